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
package org.apache.beam.runners.spark.structuredstreaming;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.is;

import java.util.List;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.PipelineResult.State;
import org.apache.beam.sdk.io.GenerateSequence;
import org.apache.beam.sdk.options.PipelineOptionsFactory;
import org.apache.beam.sdk.testing.PAssert;
import org.apache.beam.sdk.transforms.Count;
import org.apache.beam.sdk.transforms.MapElements;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.TypeDescriptors;
import org.joda.time.Duration;
import org.joda.time.Instant;
import org.junit.jupiter.api.Test;

/** The shortest pipelines that use every part of the engine. */
class FirstLightTest {
  @Test
  void countsWindowsOfAnUnboundedSourceThatEnds() {
    SparkStructuredStreamingPipelineOptions options =
        PipelineOptionsFactory.fromArgs("--runner=SparkStructuredStreamingRunner", "--sparkMaster=local[2]")
            .as(SparkStructuredStreamingPipelineOptions.class);
    Pipeline pipeline = Pipeline.create(options);
    PCollection<KV<Long, Long>> counts =
        pipeline
            .apply(
                GenerateSequence.from(0)
                    .to(1000)
                    .withTimestampFn(i -> Instant.ofEpochMilli(i * 1000)))
            .apply(Window.into(FixedWindows.of(Duration.standardSeconds(500))))
            .apply(
                MapElements.into(TypeDescriptors.longs()).via((Long i) -> i % 2))
            .apply(Count.perElement());
    PAssert.that(counts)
        .containsInAnyOrder(
            List.of(KV.of(0L, 250L), KV.of(1L, 250L), KV.of(0L, 250L), KV.of(1L, 250L)));
    assertThat(pipeline.run().waitUntilFinish(), is(State.DONE));
  }
}
