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

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineOptions;
import org.apache.beam.runners.spark.structuredstreaming.testing.Script;
import org.apache.beam.runners.spark.structuredstreaming.testing.WaitPoints;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.coders.VarLongCoder;
import org.apache.beam.sdk.options.PipelineOptionsFactory;
import org.apache.beam.sdk.state.StateSpec;
import org.apache.beam.sdk.state.StateSpecs;
import org.apache.beam.sdk.state.TimeDomain;
import org.apache.beam.sdk.state.Timer;
import org.apache.beam.sdk.state.TimerSpec;
import org.apache.beam.sdk.state.TimerSpecs;
import org.apache.beam.sdk.state.ValueState;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.values.KV;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.streaming.StreamingQueryListener;
import org.joda.time.Instant;

/**
 * The program of {@link ManyKeysTest}: makes many keys that have state and a timer, in a process of
 * its own, then touches few of them in each of many epochs, then lets all timers fire. Before each
 * round of epochs it waits, so that two of these processes can be measured by turns.
 */
final class ManyKeysPipeline {
  /** How often the program waits and then touches keys in ten epochs. */
  static final int ROUNDS = 5;

  private static final int FEEDING_EPOCHS = 20;
  private static final int EPOCHS_PER_ROUND = 10;
  private static final int WARM_UP_ROUNDS = 2;
  /** One more than there are rounds: the last one is the first of a round that never comes. */
  private static final int TOUCHING_EPOCHS = ROUNDS * EPOCHS_PER_ROUND + 1;
  private static final int TOUCHED = 100;
  private static final long TIMER_SECOND = 1_000_000;

  private static final AtomicLong FED = new AtomicLong();
  private static final AtomicLong TOUCHED_ONCE = new AtomicLong();
  private static final AtomicLong FIRED = new AtomicLong();
  private static final AtomicLong SUM = new AtomicLong();

  private ManyKeysPipeline() {}

  /**
   * Runs the pipeline, and fails if one of its results is wrong.
   *
   * @param arguments directory of the waiting points, file for the median milliseconds of a touching
   *     epoch, number of keys, then options of the pipeline
   */
  public static void main(String[] arguments) throws IOException, TimeoutException {
    int keys = Integer.parseInt(arguments[2]);
    SparkSession session = SparkSession.builder().master("local[2]").getOrCreate();
    EpochTimes times = new EpochTimes();
    session.streams().addListener(times);
    Pipeline pipeline =
        Pipeline.create(
            PipelineOptionsFactory.fromArgs(Arrays.copyOfRange(arguments, 3, arguments.length))
                .as(SparkStructuredStreamingPipelineOptions.class));
    pipeline
        .apply(Script.read("many-keys", script(keys)))
        .apply(new WaitPoints(Path.of(arguments[0])).on("Wait", waitPoints()))
        .apply("Key", ParDo.of(new KeyFn(keys)))
        .apply("Count", ParDo.of(new CountFn()));
    long start = System.nanoTime();
    pipeline.run().waitUntilFinish();
    session.sparkContext().listenerBus().waitUntilEmpty();
    System.out.println((System.nanoTime() - start) / 1_000_000_000 + " s in all");
    times.epochs.forEach(System.out::println);
    System.out.println(
        Files.readString(Path.of("/proc/self/status")).lines()
            .filter(line -> line.startsWith("Vm"))
            .toList());
    long touches = (long) TOUCHED * TOUCHING_EPOCHS;
    check("keys that were fed", FED.get(), keys);
    check("keys that were touched once", TOUCHED_ONCE.get(), touches);
    check("timers that fired", FIRED.get(), keys);
    check("sum of the counts at the timers", SUM.get(), keys + touches);
    Files.write(
        Path.of(arguments[1]),
        Long.toString(times.medianMillis()).getBytes(StandardCharsets.UTF_8));
    session.stop();
  }

  private static void check(String what, long found, long expected) {
    if (found != expected) {
      throw new IllegalStateException(what + ": " + found + " instead of " + expected);
    }
  }

  /** The record that waits before a round, and behind the last one. */
  static String waitPoint(int round) {
    return "touch:" + round * EPOCHS_PER_ROUND + ":0";
  }

  private static Set<String> waitPoints() {
    return IntStream.rangeClosed(0, ROUNDS)
        .mapToObj(ManyKeysPipeline::waitPoint)
        .collect(Collectors.toSet());
  }

  private static Script script(int keys) {
    Script script = Script.split();
    for (int epoch = 0; epoch < FEEDING_EPOCHS; epoch++) {
      script.burst(epoch, "feed:" + epoch + ":", keys / FEEDING_EPOCHS).watermark(epoch).epoch();
    }
    for (int epoch = 0; epoch < TOUCHING_EPOCHS; epoch++) {
      int second = FEEDING_EPOCHS + epoch;
      script.burst(second, "touch:" + epoch + ":", TOUCHED).watermark(second).epoch();
    }
    return script.end();
  }

  /** What Spark says of how long its epochs took. */
  private static final class EpochTimes extends StreamingQueryListener {
    private record Epoch(long number, long rows, long millis, String parts) {}

    private final List<Epoch> epochs = new CopyOnWriteArrayList<>();

    /** The median of the epochs behind the warm-up that did not wait. */
    long medianMillis() {
      List<Epoch> touching = epochs.stream().filter(epoch -> epoch.rows() == TOUCHED).toList();
      check("epochs that touched keys", touching.size(), TOUCHING_EPOCHS);
      long[] measured =
          IntStream.range(WARM_UP_ROUNDS * EPOCHS_PER_ROUND, TOUCHING_EPOCHS)
              .filter(number -> number % EPOCHS_PER_ROUND != 0)
              .mapToLong(number -> touching.get(number).millis())
              .sorted()
              .toArray();
      return measured[measured.length / 2];
    }

    @Override
    public void onQueryStarted(QueryStartedEvent event) {}

    @Override
    public void onQueryProgress(QueryProgressEvent event) {
      epochs.add(
          new Epoch(
              event.progress().batchId(),
              event.progress().numInputRows(),
              event.progress().batchDuration(),
              event.progress().durationMs().toString()));
    }

    @Override
    public void onQueryTerminated(QueryTerminatedEvent event) {}
  }

  /** Gives every fed record a key of its own, and every touching one a key from anywhere among them. */
  private static final class KeyFn extends DoFn<String, KV<Long, Void>> {
    // A prime: its multiples meet no key twice before they have met all.
    private static final long STRIDE = 7919;

    private final long keys;

    KeyFn(long keys) {
      this.keys = keys;
    }

    @ProcessElement
    public void process(@Element String record, OutputReceiver<KV<Long, Void>> out) {
      String[] parts = record.split(":", -1);
      long epoch = Long.parseLong(parts[1]);
      long number = Long.parseLong(parts[2]);
      long key =
          parts[0].equals("feed")
              ? epoch * (keys / FEEDING_EPOCHS) + number
              : (epoch * TOUCHED + number) * STRIDE % keys;
      out.output(KV.of(key, null));
    }
  }

  /** Counts the elements of each key until its timer fires. */
  static final class CountFn extends DoFn<KV<Long, Void>, Void> {
    @StateId("count")
    private final StateSpec<ValueState<Long>> countSpec = StateSpecs.value(VarLongCoder.of());

    @TimerId("far")
    final TimerSpec farSpec = TimerSpecs.timer(TimeDomain.EVENT_TIME);

    @ProcessElement
    public void process(
        @StateId("count") ValueState<Long> count, @TimerId("far") Timer far) {
      Long before = count.read();
      if (before == null) {
        FED.incrementAndGet();
        count.write(1L);
      } else {
        if (before == 1) {
          TOUCHED_ONCE.incrementAndGet();
        }
        count.write(before + 1);
      }
      far.set(Instant.ofEpochSecond(TIMER_SECOND));
    }

    @OnTimer("far")
    public void onFar(@StateId("count") ValueState<Long> count) {
      FIRED.incrementAndGet();
      SUM.addAndGet(count.read());
      count.clear();
    }
  }
}
