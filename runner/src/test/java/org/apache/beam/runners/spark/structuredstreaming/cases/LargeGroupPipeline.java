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
package org.apache.beam.runners.spark.structuredstreaming.cases;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineOptions;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.io.GenerateSequence;
import org.apache.beam.sdk.options.PipelineOptionsFactory;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.GroupByKey;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.joda.time.Duration;
import org.joda.time.Instant;

/** The program of {@link LargeGroupTest}: groups large values under one key, in a process of its own. */
final class LargeGroupPipeline {
  private LargeGroupPipeline() {}

  /**
   * Runs the pipeline.
   *
   * @param arguments file for the groups, number of values, bytes of a value, bytes of the key, then
   *     options of the pipeline
   */
  public static void main(String[] arguments) {
    int values = Integer.parseInt(arguments[1]);
    int valueBytes = Integer.parseInt(arguments[2]);
    int keyBytes = Integer.parseInt(arguments[3]);
    Pipeline pipeline =
        Pipeline.create(
            PipelineOptionsFactory.fromArgs(Arrays.copyOfRange(arguments, 4, arguments.length))
                .as(SparkStructuredStreamingPipelineOptions.class));
    pipeline
        .apply(GenerateSequence.from(0).to(values).withTimestampFn(Instant::ofEpochMilli))
        .apply(Window.into(FixedWindows.of(Duration.standardMinutes(1))))
        .apply(ParDo.of(new EnlargeFn(keyBytes, valueBytes)))
        .apply(GroupByKey.create())
        .apply(ParDo.of(new DescribeFn(arguments[0])));
    pipeline.run().waitUntilFinish();
  }

  private static final class EnlargeFn extends DoFn<Long, KV<String, byte[]>> {
    private final int keyBytes;
    private final int valueBytes;

    EnlargeFn(int keyBytes, int valueBytes) {
      this.keyBytes = keyBytes;
      this.valueBytes = valueBytes;
    }

    @ProcessElement
    public void process(@Element Long number, OutputReceiver<KV<String, byte[]>> out) {
      byte[] value = new byte[valueBytes];
      Arrays.fill(value, number.byteValue());
      out.output(KV.of("k".repeat(keyBytes), value));
    }
  }

  /** Writes a line for each group, without ever holding more than one of its values. */
  private static final class DescribeFn extends DoFn<KV<String, Iterable<byte[]>>, Void> {
    private final String file;

    DescribeFn(String file) {
      this.file = file;
    }

    @ProcessElement
    public void process(@Element KV<String, Iterable<byte[]>> group) throws IOException {
      long count = 0;
      long bytes = 0;
      long sum = 0;
      for (byte[] value : group.getValue()) {
        count++;
        bytes += value.length;
        sum += value[0];
      }
      String line =
          group.getKey().length() + " key bytes: " + count + " values, " + bytes + " bytes, sum " + sum;
      Files.write(
          Path.of(file),
          (line + "\n").getBytes(StandardCharsets.UTF_8),
          StandardOpenOption.CREATE,
          StandardOpenOption.APPEND);
    }
  }
}
