/*
 * Licensed to the Apache Software Foundation (ASF) under one
 * or more contributor license agreements.  See the NOTICE file
 * distributed with this work for additional information
 * regarding copyright ownership.  The ASF licenses this file
 * to you under the Apache License, Version 2.0 (the
 * "License"); you may not use this file except in compliance
 * with the License.  You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.apache.beam.runners.spark.structuredstreaming.translation;

import static org.apache.beam.runners.spark.structuredstreaming.translation.PlanTesting.names;
import static org.apache.beam.runners.spark.structuredstreaming.translation.PlanTesting.pipeline;
import static org.apache.beam.runners.spark.structuredstreaming.translation.PlanTesting.read;
import static org.apache.beam.runners.spark.structuredstreaming.translation.PlanTesting.source;
import static org.apache.beam.runners.spark.structuredstreaming.translation.PlanTesting.step;
import static org.apache.beam.runners.spark.structuredstreaming.translation.PlanTesting.steps;
import static org.apache.beam.runners.spark.structuredstreaming.translation.PlanTesting.translate;
import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.hasSize;
import static org.hamcrest.Matchers.instanceOf;

import java.util.List;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.transforms.Reshuffle;
import org.apache.beam.sdk.transforms.View;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.util.SerializableUtils;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PCollectionView;
import org.junit.jupiter.api.Test;

/** Where views are kept and read. */
class PlanViewsTest {
  private static final String PASS = "/ParMultiDo(Pass)";

  @Test
  void readerStandsBehindItsInputAndThePanesOfItsViews() {
    Pipeline pipeline = pipeline();
    PCollectionView<List<String>> view = source(pipeline, "side").apply("view", View.asList());
    read(source(pipeline, "main"), "reader", view);

    Plan plan = translate(pipeline);

    SideInputParDoStep reader = (SideInputParDoStep) step(plan, "reader" + PASS);
    // The panes come from a grouping on level 1.
    assertThat(reader.level(), equalTo(2));
    ViewStep kept = steps(plan, ViewStep.class).get(0);
    assertThat(kept.level(), equalTo(2));
    assertThat(kept.outputs(), empty());
    assertThat(kept.view(), equalTo(view));
    assertThat(kept.input().windowingStrategy().getWindowFn(), instanceOf(FixedWindows.class));
    assertThat(reader.spec().sideInputs().values(), contains(view));
    // From the main source, and from the grouping.
    assertThat(
        plan.levels().get(2).incoming().stream().map(Edge::fromLevel).toList(), contains(1, 0));
  }

  @Test
  void readersOnOneLevelShareTheViewAndComeBehindIt() {
    Pipeline pipeline = pipeline();
    PCollectionView<List<String>> first = source(pipeline, "side").apply("first", View.asList());
    PCollectionView<List<String>> second = source(pipeline, "side 2").apply("second", View.asList());
    PCollection<String> main = source(pipeline, "main");
    read(main, "reader 1", first);
    read(main, "reader 2", second, first);

    Plan plan = translate(pipeline);

    assertThat(steps(plan, ViewStep.class), hasSize(2));
    List<Step> roots = plan.levels().get(2).roots();
    assertThat(roots, hasSize(4));
    assertThat(roots.get(0), instanceOf(ViewStep.class));
    assertThat(roots.get(1), instanceOf(ViewStep.class));
    assertThat(names(roots.subList(2, 4)), contains("reader 1" + PASS, "reader 2" + PASS));
  }

  @Test
  void viewReadOnTwoLevelsIsKeptOnBoth() {
    Pipeline pipeline = pipeline();
    PCollectionView<List<String>> view = source(pipeline, "side").apply("view", View.asList());
    PCollection<String> once = read(source(pipeline, "main"), "reader 1", view);
    read(once.apply(Reshuffle.viaRandomKey()), "reader 2", view);

    Plan plan = translate(pipeline);

    assertThat(
        steps(plan, ViewStep.class).stream().map(ViewStep::level).toList(), contains(2, 4));
    assertThat(
        steps(plan, ViewStep.class).stream().map(ViewStep::stableId).distinct().toList(),
        hasSize(2));
  }

  @Test
  void viewOfAReaderOfAView() {
    Pipeline pipeline = pipeline();
    PCollectionView<List<String>> inner = source(pipeline, "side").apply("inner", View.asList());
    PCollectionView<List<String>> outer =
        read(source(pipeline, "other"), "maker", inner).apply("outer", View.asList());
    read(source(pipeline, "main"), "reader", outer, inner);

    Plan plan = translate(pipeline);

    assertThat(((KeyedStep) step(plan, "maker" + PASS)).level(), equalTo(2));
    assertThat(((KeyedStep) step(plan, "reader" + PASS)).level(), equalTo(4));
    assertThat(
        steps(plan, ViewStep.class).stream().map(ViewStep::level).toList(), contains(2, 4, 4));
  }

  @Test
  void planWithViewsIsSerializableAndTranslatedAgainTheSame() {
    Pipeline pipeline = pipeline();
    PCollectionView<List<String>> view = source(pipeline, "side").apply("view", View.asList());
    read(source(pipeline, "main"), "reader", view);

    Plan plan = translate(pipeline);

    Plan copy = SerializableUtils.ensureSerializable(plan);
    assertThat(copy.describe(), equalTo(plan.describe()));
    assertThat(steps(copy, ViewStep.class).get(0).view(), equalTo(view));
    assertThat(translate(pipeline).describe(), equalTo(plan.describe()));
    assertThat(PlanFingerprint.of(translate(pipeline)), equalTo(PlanFingerprint.of(plan)));
  }
}
