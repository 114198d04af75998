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
import static org.apache.beam.runners.spark.structuredstreaming.translation.PlanTesting.translateToBatch;
import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.hasSize;
import static org.hamcrest.Matchers.instanceOf;

import java.util.List;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.transforms.Count;
import org.apache.beam.sdk.transforms.Flatten;
import org.apache.beam.sdk.transforms.Keys;
import org.apache.beam.sdk.transforms.Reshuffle;
import org.apache.beam.sdk.transforms.View;
import org.apache.beam.sdk.util.SerializableUtils;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PCollectionList;
import org.apache.beam.sdk.values.PCollectionView;
import org.junit.jupiter.api.Test;

/** Where a batch plan reads views: where its input is, if that can come behind what makes them. */
class BatchViewsTest {
  private static final String PASS = "/ParMultiDo(Pass)";

  private static PCollectionView<List<String>> view(PCollection<String> input, String name) {
    return input.apply(name, View.asList());
  }

  private static int levelOfSource(Plan plan, String name) {
    return steps(plan, ReadStep.class).stream()
        .filter(read -> read.fullName().startsWith(name))
        .findFirst()
        .orElseThrow()
        .level();
  }

  @Test
  void aSourceWaitsForTheViewsThatAreReadBehindIt() {
    Pipeline pipeline = pipeline();
    PCollection<String> main = source(pipeline, "main");
    PCollectionView<List<String>> view = view(source(pipeline, "side"), "view");
    read(read(main, "first"), "reader", view);

    Plan plan = translateToBatch(pipeline);

    assertThat(step(plan, "reader" + PASS), instanceOf(ParDoStep.class));
    assertThat(levelOfSource(plan, "side"), equalTo(0));
    // The panes come from a grouping on level 1.
    assertThat(levelOfSource(plan, "main"), equalTo(2));
    assertThat(steps(plan, ViewStep.class).get(0).level(), equalTo(2));
    assertThat(plan.levels(), hasSize(3));
    assertThat(
        names(plan.levels().get(2).fused()),
        contains("main windows/Window.Assign", "first" + PASS, "reader" + PASS));
    assertThat(SerializableUtils.ensureSerializable(plan).describe(), equalTo(plan.describe()));
  }

  @Test
  void aGroupingWaitsForTheViewsThatAreReadBehindIt() {
    Pipeline pipeline = pipeline();
    PCollectionView<List<String>> view = view(source(pipeline, "side"), "view");
    PCollection<String> grouped = source(pipeline, "main").apply("shuffle", Reshuffle.viaRandomKey());
    read(grouped, "reader", view);

    Plan plan = translateToBatch(pipeline);

    assertThat(levelOfSource(plan, "main"), equalTo(0));
    assertThat(steps(plan, RedistributeStep.class).get(0).level(), equalTo(2));
    assertThat(step(plan, "reader" + PASS), instanceOf(ParDoStep.class));
  }

  @Test
  void whatTheViewIsMadeOfGoesThroughAShuffle() {
    Pipeline pipeline = pipeline();
    PCollection<String> main = source(pipeline, "main");
    read(main, "reader", view(main, "view"));

    Plan plan = translateToBatch(pipeline);

    assertThat(levelOfSource(plan, "main"), equalTo(0));
    assertThat(((SideInputParDoStep) step(plan, "reader" + PASS)).level(), equalTo(2));
  }

  @Test
  void twoSourcesWhoseViewsAreReadBehindEachOther() {
    Pipeline pipeline = pipeline();
    PCollection<String> first = source(pipeline, "first");
    PCollection<String> second = source(pipeline, "second");
    PCollectionView<List<String>> ofFirst = view(first, "of first");
    PCollectionView<List<String>> ofSecond = view(second, "of second");
    read(first, "reads second", ofSecond);
    read(second, "reads first", ofFirst);

    Plan plan = translateToBatch(pipeline);

    // One of them has to go first: its reader waits behind a shuffle, that of the other need not.
    assertThat(levelOfSource(plan, "first"), equalTo(0));
    assertThat(levelOfSource(plan, "second"), equalTo(2));
    assertThat(step(plan, "reads second" + PASS), instanceOf(SideInputParDoStep.class));
    assertThat(step(plan, "reads first" + PASS), instanceOf(ParDoStep.class));
  }

  @Test
  void aViewReadOnSeveralLevelsIsKeptOnce() {
    Pipeline pipeline = pipeline();
    PCollectionView<List<String>> view = view(source(pipeline, "side"), "view");
    PCollection<String> once = read(source(pipeline, "main"), "reader 1", view);
    read(once.apply(Reshuffle.viaRandomKey()), "reader 2", view);

    Plan plan = translateToBatch(pipeline);

    assertThat(steps(plan, ViewStep.class).stream().map(ViewStep::level).toList(), contains(2));
    assertThat(step(plan, "reader 2" + PASS), instanceOf(ParDoStep.class));
    assertThat(steps(plan, RedistributeStep.class).get(0).level(), equalTo(3));
  }

  @Test
  void behindAFlattenOneInputOfWhichMakesTheView() {
    Pipeline pipeline = pipeline();
    PCollection<String> side = source(pipeline, "side");
    PCollectionView<List<String>> view = view(side, "view");
    PCollection<String> both =
        PCollectionList.of(side).and(source(pipeline, "main")).apply(Flatten.pCollections());
    read(both, "reader", view);

    Plan plan = translateToBatch(pipeline);

    // Fused it would run on level 0 as well, where the view is not there yet.
    assertThat(step(plan, "reader" + PASS), instanceOf(SideInputParDoStep.class));
  }

  @Test
  void aViewOfWhatWasReadWithAView() {
    Pipeline pipeline = pipeline();
    PCollectionView<List<String>> inner = view(source(pipeline, "side"), "inner");
    PCollectionView<List<String>> outer =
        view(read(source(pipeline, "other"), "maker", inner), "outer");
    PCollection<String> counted =
        source(pipeline, "main").apply(Count.perElement()).apply(Keys.create());
    read(counted, "reader", outer, inner);

    Plan plan = translateToBatch(pipeline);

    assertThat(levelOfSource(plan, "other"), equalTo(2));
    assertThat(levelOfSource(plan, "main"), equalTo(0));
    assertThat(steps(plan, CombineStep.class).get(0).level(), equalTo(4));
    assertThat(step(plan, "reader" + PASS), instanceOf(ParDoStep.class));
  }
}
