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
package org.apache.beam.runners.spark.structuredstreaming.properties;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.allOf;
import static org.hamcrest.Matchers.everyItem;
import static org.hamcrest.Matchers.greaterThan;
import static org.hamcrest.Matchers.hasSize;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.lessThanOrEqualTo;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorder;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.PipelineResult.State;
import org.apache.beam.sdk.coders.VarLongCoder;
import org.apache.beam.sdk.io.GenerateSequence;
import org.apache.beam.sdk.state.StateSpec;
import org.apache.beam.sdk.state.StateSpecs;
import org.apache.beam.sdk.state.ValueState;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.WithKeys;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.TypeDescriptors;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * apache/spark#58394: what a task sends to the driver is of its own partition and epoch. With many
 * partitions and stateful steps it does not grow: only the number of such tasks does.
 */
class TaskResultSizeTest {
  @RegisterExtension static final TestSpark SPARK = TestSpark.on("local[2]");

  private static final int PARTITIONS = 200;
  private static final int STEPS = 4;
  private static final int ELEMENTS = 1000;
  private static final long MOST_BYTES = 100_000;

  @TempDir Path directory;

  @Test
  void resultsOfTasksStaySmallWithManyPartitionsAndStatefulSteps() throws Exception {
    Recorder recorder = new Recorder(directory.resolve("recorder"));
    Pipeline pipeline =
        Pipeline.create(
            SPARK.options(
                "--parallelism=" + PARTITIONS,
                "--sourceSplits=2",
                "--checkpointDir=" + directory.resolve("checkpoint")));
    PCollection<KV<Long, Long>> pairs =
        pipeline
            .apply(GenerateSequence.from(0).to(ELEMENTS))
            .apply(WithKeys.of((Long n) -> n).withKeyType(TypeDescriptors.longs()));
    for (int step = 0; step < STEPS; step++) {
      pairs
          .apply("Count " + step, ParDo.of(new CountFn()))
          .apply("Out " + step, recorder.as("out " + step));
    }
    List<Long> sizes = new ArrayList<>();
    SparkListener listener =
        new SparkListener() {
          @Override
          public void onTaskEnd(SparkListenerTaskEnd ended) {
            sizes.add(ended.taskMetrics().resultSize());
          }
        };
    SPARK.session().sparkContext().addSparkListener(listener);
    try {
      assertThat(pipeline.run().waitUntilFinish(), is(State.DONE));
      SPARK.session().sparkContext().listenerBus().waitUntilEmpty(60_000);
    } finally {
      SPARK.session().sparkContext().removeSparkListener(listener);
    }
    for (int step = 0; step < STEPS; step++) {
      assertThat(recorder.seen("out " + step), hasSize(ELEMENTS));
    }
    assertThat(sizes.size(), greaterThan(PARTITIONS));
    assertThat(sizes, everyItem(allOf(greaterThan(0L), lessThanOrEqualTo(MOST_BYTES))));
  }

  /** Counts the elements of a key. */
  static final class CountFn extends DoFn<KV<Long, Long>, KV<Long, Long>> {
    private static final String COUNT = "count";

    @StateId(COUNT)
    private final StateSpec<ValueState<Long>> countSpec = StateSpecs.value(VarLongCoder.of());

    @ProcessElement
    public void process(
        @Element KV<Long, Long> element,
        @StateId(COUNT) ValueState<Long> count,
        OutputReceiver<KV<Long, Long>> out) {
      Long before = count.read();
      long now = before == null ? 1 : before + 1;
      count.write(now);
      out.output(KV.of(element.getKey(), now));
    }
  }
}
