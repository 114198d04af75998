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
package org.apache.beam.runners.spark.structuredstreaming.io.streaming;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.containsInAnyOrder;
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.hasSize;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.ScriptedSource.Emit;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.ScriptedSource.Pause;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.ScriptedSource.Step;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.ScriptedSource.Watermark;
import org.apache.beam.sdk.io.CountingSource;
import org.apache.beam.sdk.util.construction.UnboundedReadFromBoundedSource.BoundedToUnboundedSourceAdapter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Sources of several kinds in every way in which the harness reads. */
class UnboundedSourceHarnessTest {
  @TempDir Path directory;

  @Test
  void scriptedSplitsWithPausesGiveTheSameInEveryWay() throws Exception {
    List<Step> paused = new ArrayList<>();
    paused.add(new Pause(2));
    paused.add(new Emit("p0", 5));
    paused.add(new Watermark(5));
    paused.add(new Pause(1));
    paused.add(new Emit("p1", 6));
    paused.add(new Watermark(ScriptedSource.END_OF_TIME));
    String name = "harness";

    List<List<String>> read =
        new UnboundedSourceHarness(
                ScriptedSource.of(
                    name,
                    List.of(
                        ScriptedSource.recordsToTheEnd("a", 12),
                        paused,
                        ScriptedSource.recordsToTheEnd("c", 0))),
                directory)
            .read();

    assertThat(read, hasSize(3));
    assertThat(read.get(0), hasSize(12));
    assertThat(read.get(1), contains("p0", "p1"));
    assertThat(read.get(2), empty());
    assertThat(SourceTrace.of(name).violations, empty());
    assertThat(
        SourceTrace.of(name).closed.get(), equalTo(SourceTrace.of(name).opened.size()));
  }

  /** A bounded source goes on where its mark stands, and holds the watermark until its end. */
  @Test
  @SuppressWarnings("deprecation") // GenerateSequence hides the source that upTo() gives
  void aBoundedSourceGoesOnFromItsMarkInEveryWay() throws Exception {
    List<List<String>> read =
        new UnboundedSourceHarness(
                new BoundedToUnboundedSourceAdapter<>(CountingSource.upTo(40)), directory)
            .read();

    List<String> all = new ArrayList<>();
    read.forEach(all::addAll);
    assertThat(
        all,
        containsInAnyOrder(IntStream.range(0, 40).mapToObj(Integer::toString).toArray()));
  }
}
