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
package org.apache.beam.runners.spark.structuredstreaming.kafka.soak;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineOptions;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.io.kafka.KafkaIO;
import org.apache.beam.sdk.options.PipelineOptionsFactory;
import org.apache.beam.sdk.state.StateSpec;
import org.apache.beam.sdk.state.StateSpecs;
import org.apache.beam.sdk.state.ValueState;
import org.apache.beam.sdk.transforms.Count;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.Flatten;
import org.apache.beam.sdk.transforms.Keys;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.GlobalWindows;
import org.apache.beam.sdk.transforms.windowing.IntervalWindow;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PCollectionList;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.spark.sql.SparkSession;
import org.joda.time.Duration;

/**
 * The pipeline of the soak, in a driver JVM of its own with two executors: what it reads from one topic
 * it counts by id in state, and by key in windows, and writes both to another topic exactly once.
 */
public final class SoakPipeline {
  /** Ids and windows are told apart by how keys of the output begin. */
  static final String ID = "id/";

  static final String WINDOW = "window/";
  static final Duration WINDOW_SIZE = Duration.standardSeconds(10);

  /** How late a record may be behind others of its partition before it is late. */
  static final Duration MAX_DELAY = Duration.standardSeconds(30);

  private SoakPipeline() {}

  /**
   * Runs until it is killed.
   *
   * @param arguments servers of the broker, topic to read, topic to write, number of the latter's
   *     partitions, group of the sink, then options of the pipeline
   */
  public static void main(String[] arguments) throws IOException {
    SparkSession session = session();
    String[] options = new String[arguments.length - 5];
    System.arraycopy(arguments, 5, options, 0, options.length);
    Pipeline pipeline =
        Pipeline.create(
            PipelineOptionsFactory.fromArgs(options)
                .as(SparkStructuredStreamingPipelineOptions.class));
    build(
        pipeline, arguments[0], arguments[1], arguments[2], Integer.parseInt(arguments[3]), arguments[4]);
    pipeline.run().waitUntilFinish();
    session.stop();
  }

  private static SparkSession session() throws IOException {
    String home = System.getenv("SPARK_HOME");
    if (home == null) {
      throw new IllegalStateException("SPARK_HOME is not set: set it to any folder.");
    }
    Files.createDirectories(Path.of(home, "jars"));
    return SparkSession.builder()
        .master("local-cluster[2,1,1024]")
        .appName("soak")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "localhost")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.executor.memory", "1g")
        .config("spark.executor.extraClassPath", System.getProperty("java.class.path"))
        .config("spark.executorEnv.SPARK_SCALA_VERSION", "2.12")
        .config("spark.sql.shuffle.partitions", "2")
        // Executors are killed, and are to be replaced for ever.
        .config("spark.deploy.maxExecutorRetries", "-1")
        .getOrCreate();
  }

  private static void build(
      Pipeline pipeline, String servers, String input, String output, int shards, String group) {
    PCollection<KV<String, String>> records =
        pipeline.apply(
            "Read",
            KafkaIO.<String, String>read()
                .withBootstrapServers(servers)
                .withTopic(input)
                .withConsumerConfigUpdates(Map.of("auto.offset.reset", "earliest"))
                .withKeyDeserializer(StringDeserializer.class)
                .withValueDeserializer(StringDeserializer.class)
                .withCreateTime(MAX_DELAY)
                .withReadCommitted()
                .withoutMetadata());
    PCollection<KV<String, String>> ids =
        records
            .apply("ById", ParDo.of(new ByIdFn()))
            .apply("CountIds", ParDo.of(new CountIdFn()));
    PCollection<KV<String, String>> windows =
        records
            .apply(
                "Windows",
                Window.<KV<String, String>>into(FixedWindows.of(WINDOW_SIZE))
                    // What the broker's outages make late is counted in a pane of its own.
                    .withAllowedLateness(Duration.standardDays(1))
                    .discardingFiredPanes())
            .apply("Keys", Keys.create())
            .apply("CountKeys", Count.perElement())
            .apply("WindowTexts", ParDo.of(new WindowTextFn()))
            .apply(
                "Global",
                Window.<KV<String, String>>into(new GlobalWindows()).discardingFiredPanes());
    PCollectionList.of(ids)
        .and(windows)
        .apply("All", Flatten.pCollections())
        .apply(
            "Write",
            KafkaIO.<String, String>write()
                .withBootstrapServers(servers)
                .withTopic(output)
                .withKeySerializer(StringSerializer.class)
                .withValueSerializer(StringSerializer.class)
                .withEOS(shards, group));
  }

  private static final class ByIdFn
      extends DoFn<KV<String, String>, KV<String, String>> {
    @ProcessElement
    public void process(
        @Element KV<String, String> record, OutputReceiver<KV<String, String>> out) {
      out.output(KV.of(record.getValue(), record.getKey()));
    }
  }

  /** How often each id has come. */
  private static final class CountIdFn
      extends DoFn<KV<String, String>, KV<String, String>> {
    @StateId("count")
    private final StateSpec<ValueState<Long>> spec = StateSpecs.value();

    @ProcessElement
    public void process(
        @Element KV<String, String> element,
        @StateId("count") ValueState<Long> count,
        OutputReceiver<KV<String, String>> out) {
      Long before = count.read();
      long now = before == null ? 1 : before + 1;
      count.write(now);
      out.output(KV.of(ID + element.getKey(), Long.toString(now)));
    }
  }

  private static final class WindowTextFn extends DoFn<KV<String, Long>, KV<String, String>> {
    @ProcessElement
    public void process(
        @Element KV<String, Long> count,
        IntervalWindow window,
        OutputReceiver<KV<String, String>> out) {
      out.output(
          KV.of(
              windowKey(window.start().getMillis(), count.getKey()),
              Long.toString(count.getValue())));
    }
  }

  /** The key of the output for the records of a key in a window. */
  static String windowKey(long startMillis, String key) {
    return WINDOW + startMillis + "/" + key;
  }
}
