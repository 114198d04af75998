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
package org.apache.beam.runners.spark.structuredstreaming.speed;

import java.util.concurrent.atomic.AtomicLong;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineOptions;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.coders.VarLongCoder;
import org.apache.beam.sdk.io.GenerateSequence;
import org.apache.beam.sdk.io.Read;
import org.apache.beam.sdk.options.Default;
import org.apache.beam.sdk.options.Description;
import org.apache.beam.sdk.options.PipelineOptionsFactory;
import org.apache.beam.sdk.state.StateSpec;
import org.apache.beam.sdk.state.StateSpecs;
import org.apache.beam.sdk.state.TimeDomain;
import org.apache.beam.sdk.state.Timer;
import org.apache.beam.sdk.state.TimerSpec;
import org.apache.beam.sdk.state.TimerSpecs;
import org.apache.beam.sdk.state.ValueState;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.GroupByKey;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.Sum;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.joda.time.Duration;
import org.joda.time.Instant;

/**
 * Measures how many records a second a windowed sum takes in, from {@code run()} to the last result,
 * and checks the results. A program, not a test: what it measures depends on the machine.
 */
public final class Speed {
  private static final AtomicLong RESULTS = new AtomicLong();
  private static final AtomicLong TOTAL = new AtomicLong();

  private Speed() {}

  /** Options of the measurement. */
  public interface Options extends SparkStructuredStreamingPipelineOptions {
    @Description("Records in all.")
    @Default.Long(8_000_000)
    Long getRecords();

    void setRecords(Long records);

    @Description(
        "sum, for Sum.longsPerKey; group, for GroupByKey and a summing DoFn; or state, for a DoFn with"
            + " a sum in a ValueState and a timer at the window's end.")
    @Default.String("sum")
    String getWorkload();

    void setWorkload(String workload);

    @Description("Whether the records come from a bounded source, and the pipeline is run as batch.")
    @Default.Boolean(false)
    boolean isBounded();

    void setBounded(boolean bounded);

    @Description("How often the pipeline is run.")
    @Default.Integer(3)
    Integer getRounds();

    void setRounds(Integer rounds);
  }

  /** Runs the measurement; ends with an exception if a result is wrong. */
  public static void main(String[] args) {
    Options options = PipelineOptionsFactory.fromArgs(args).withValidation().as(Options.class);
    for (int round = 0; round < options.getRounds(); round++) {
      options.setJobName("speed-" + options.getWorkload() + "-" + round);
      run(options);
    }
  }

  private static void run(Options options) {
    RESULTS.set(0);
    TOTAL.set(0);
    Pipeline pipeline = Pipeline.create(options);
    PCollection<KV<Long, Long>> windowed =
        records(pipeline, options)
            .apply("Window", Window.into(FixedWindows.of(Duration.standardMinutes(10))));
    PCollection<KV<Long, Long>> sums =
        switch (options.getWorkload()) {
          case "sum" -> windowed.apply("Sum", Sum.longsPerKey());
          case "group" ->
              windowed
                  .apply("Group", GroupByKey.create())
                  .apply("SumOfGroup", ParDo.of(new SumOfGroup()));
          case "state" -> windowed.apply("SumInState", ParDo.of(new SumInState()));
          default ->
              throw new IllegalArgumentException("No such workload: " + options.getWorkload());
        };
    sums.apply("Collect", ParDo.of(new Collect()));
    long start = System.nanoTime();
    pipeline.run().waitUntilFinish();
    double seconds = (System.nanoTime() - start) / 1e9;
    System.out.printf(
        "%s: %,d records in %.2f s: %,.0f records/s; %,d results, sum %,d%n",
        options.getWorkload(),
        options.getRecords(),
        seconds,
        options.getRecords() / seconds,
        RESULTS.get(),
        TOTAL.get());
    if (TOTAL.get() != options.getRecords()) {
      throw new IllegalStateException("The sum of all results is wrong.");
    }
  }

  /** The same records from either source: key, event time and value follow from their number. */
  private static PCollection<KV<Long, Long>> records(Pipeline pipeline, Options options) {
    return options.isBounded()
        ? pipeline
            .apply(
                "Read",
                GenerateSequence.from(0)
                    .to(options.getRecords())
                    .withTimestampFn(number -> Instant.ofEpochMilli(number / 2 * 4)))
            .apply("ToRecord", ParDo.of(new ToRecord()))
        : pipeline.apply("Read", Read.from(new SpeedSource(options.getRecords(), 2)));
  }

  /** Makes a record of its number. */
  private static final class ToRecord extends DoFn<Long, KV<Long, Long>> {
    @ProcessElement
    public void process(@Element Long number, OutputReceiver<KV<Long, Long>> output) {
      output.output(KV.of(((number * 0x9E3779B97F4A7C15L) >>> 33) % 1000, 1L));
    }
  }

  /** Adds up the values of a group. */
  private static final class SumOfGroup extends DoFn<KV<Long, Iterable<Long>>, KV<Long, Long>> {
    @ProcessElement
    public void process(
        @Element KV<Long, Iterable<Long>> group, OutputReceiver<KV<Long, Long>> output) {
      long sum = 0;
      for (long value : group.getValue()) {
        sum += value;
      }
      output.output(KV.of(group.getKey(), sum));
    }
  }

  /** Adds up the values of a key and window in its state, and outputs the sum when the window ends. */
  static final class SumInState extends DoFn<KV<Long, Long>, KV<Long, Long>> {
    @StateId("sum")
    private final StateSpec<ValueState<Long>> sumSpec = StateSpecs.value(VarLongCoder.of());

    @TimerId("end")
    final TimerSpec endSpec = TimerSpecs.timer(TimeDomain.EVENT_TIME);

    @ProcessElement
    public void process(
        @Element KV<Long, Long> element,
        BoundedWindow window,
        @StateId("sum") ValueState<Long> sum,
        @TimerId("end") Timer end) {
      Long before = sum.read();
      sum.write((before == null ? 0 : before) + element.getValue());
      end.set(window.maxTimestamp());
    }

    @OnTimer("end")
    public void onEnd(
        @Key Long key,
        @StateId("sum") ValueState<Long> sum,
        OutputReceiver<KV<Long, Long>> output) {
      output.output(KV.of(key, sum.read()));
      sum.clear();
    }
  }

  /** Counts results, in this JVM. */
  private static final class Collect extends DoFn<KV<Long, Long>, Void> {
    @ProcessElement
    public void process(@Element KV<Long, Long> sum) {
      RESULTS.incrementAndGet();
      TOTAL.addAndGet(sum.getValue());
    }
  }
}
