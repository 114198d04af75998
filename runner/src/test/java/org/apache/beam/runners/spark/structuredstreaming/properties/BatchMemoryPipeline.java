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

import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineOptions;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.coders.ByteArrayCoder;
import org.apache.beam.sdk.io.GenerateSequence;
import org.apache.beam.sdk.options.PipelineOptionsFactory;
import org.apache.beam.sdk.state.BagState;
import org.apache.beam.sdk.state.StateSpec;
import org.apache.beam.sdk.state.StateSpecs;
import org.apache.beam.sdk.state.TimeDomain;
import org.apache.beam.sdk.state.Timer;
import org.apache.beam.sdk.state.TimerSpec;
import org.apache.beam.sdk.state.TimerSpecs;
import org.apache.beam.sdk.transforms.Combine;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.GroupByKey;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.Sum;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.transforms.windowing.Sessions;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.joda.time.Duration;
import org.joda.time.Instant;

/**
 * The program of {@link BatchMemoryTest}: a batch pipeline that is larger than the heap, in one of
 * several ways, which fails if a result is wrong.
 *
 * <pre>
 * group    values of one key, gathered and iterated twice
 * session  likewise, in a session, which is one pane of a window that merges
 * state    likewise, in the BagState of a DoFn, read when a timer fires
 * combine  a sum for each of very many keys
 * lists    a list of values for each of many keys, by a CombineFn, of two keys with hot key fanout
 * </pre>
 */
final class BatchMemoryPipeline {
  private static final int VALUE_BYTES = 1000;
  private static final int LISTS = 4000;
  private static final long SPARKS_LEAST_HEAP = 450L << 20;
  private static final AtomicLong RESULTS = new AtomicLong();
  private static final AtomicLong SUM = new AtomicLong();

  private BatchMemoryPipeline() {}

  /**
   * Runs the pipeline.
   *
   * @param arguments which pipeline; how many values or keys; options of the pipeline
   */
  public static void main(String[] arguments) {
    if (Runtime.getRuntime().maxMemory() < SPARKS_LEAST_HEAP) {
      // Spark would refuse, and set 300 MB aside: more than this heap has.
      System.setProperty("spark.testing.reservedMemory", Integer.toString(16 << 20));
    }
    String kind = arguments[0];
    long size = Long.parseLong(arguments[1]);
    Pipeline pipeline =
        Pipeline.create(
            PipelineOptionsFactory.fromArgs(Arrays.copyOfRange(arguments, 2, arguments.length))
                .as(SparkStructuredStreamingPipelineOptions.class));
    PCollection<Long> numbers =
        pipeline.apply(
            GenerateSequence.from(0)
                .to(size)
                .withTimestampFn(Instant::ofEpochMilli));
    long results = apply(kind, numbers, size);
    long start = System.nanoTime();
    pipeline.run().waitUntilFinish();
    System.out.printf(
        "%s: %,d in %.1f s, peak of the old generation %,d MB%n",
        kind, size, (System.nanoTime() - start) / 1e9, peakHeapBytes() >> 20);
    check("results", RESULTS.get(), results);
    check("sum", SUM.get(), size * (size - 1) / 2);
  }

  /** Applies the rest of the pipeline; returns how many results it has. */
  private static long apply(String kind, PCollection<Long> numbers, long size) {
    switch (kind) {
      case "group" -> {
        numbers
            .apply("Enlarge", ParDo.of(new EnlargeFn(1)))
            .apply("Group", GroupByKey.create())
            .apply("Twice", ParDo.of(new TwiceFn()));
        return 1;
      }
      case "session" -> {
        numbers
            .apply("Enlarge", ParDo.of(new EnlargeFn(1)))
            .apply("Sessions", Window.into(Sessions.withGapDuration(Duration.standardSeconds(10))))
            .apply("Group", GroupByKey.create())
            .apply("Twice", ParDo.of(new TwiceFn()));
        return 1;
      }
      case "state" -> {
        numbers
            .apply("Enlarge", ParDo.of(new EnlargeFn(1)))
            .apply("Bag", ParDo.of(new BagFn()));
        return 1;
      }
      case "combine" -> {
        numbers
            .apply("Key", ParDo.of(new KeyFn()))
            .apply("Sum", Sum.longsPerKey())
            .apply("Results", ParDo.of(new ResultFn()));
        return size;
      }
      case "lists" -> {
        numbers
            .apply("Enlarge", ParDo.of(new EnlargeFn(LISTS)))
            .apply(
                "Lists",
                Combine.<Long, byte[], byte[]>perKey(new ConcatenateFn())
                    .withHotKeyFanout(key -> key < 2 ? 4 : 1))
            .apply("Cut", ParDo.of(new CutFn()));
        return size;
      }
      default -> throw new IllegalArgumentException("No such pipeline: " + kind);
    }
  }

  /** The most that was ever in the old generation, garbage included. */
  private static long peakHeapBytes() {
    return ManagementFactory.getMemoryPoolMXBeans().stream()
        .filter(pool -> pool.getName().contains("Old Gen") || pool.getName().contains("Tenured"))
        .mapToLong(pool -> pool.getPeakUsage().getUsed())
        .sum();
  }

  private static void check(String what, long found, long expected) {
    if (found != expected) {
      throw new IllegalStateException(what + ": " + found + " instead of " + expected);
    }
  }

  /** A value of {@value #VALUE_BYTES} bytes that begins with its number and cannot be compressed. */
  private static final class EnlargeFn extends DoFn<Long, KV<Long, byte[]>> {
    private static final long MULTIPLIER = 0x5851F42D4C957F2DL;

    private final long keys;

    EnlargeFn(long keys) {
      this.keys = keys;
    }

    @ProcessElement
    public void process(@Element Long number, OutputReceiver<KV<Long, byte[]>> out) {
      ByteBuffer value = ByteBuffer.allocate(VALUE_BYTES).putLong(number);
      long random = number;
      while (value.remaining() >= Long.BYTES) {
        random = random * MULTIPLIER + 1;
        value.putLong(random);
      }
      out.output(KV.of(number % keys, value.array()));
    }
  }

  private static long numberIn(byte[] value) {
    return ByteBuffer.wrap(value).getLong();
  }

  private static long sum(Iterable<byte[]> values) {
    long sum = 0;
    for (byte[] value : values) {
      sum += numberIn(value);
    }
    return sum;
  }

  private static void addTwice(Iterable<byte[]> values) {
    long first = sum(values);
    check("the second iteration", sum(values), first);
    RESULTS.incrementAndGet();
    SUM.addAndGet(first);
  }

  private static final class TwiceFn extends DoFn<KV<Long, Iterable<byte[]>>, Void> {
    @ProcessElement
    public void process(@Element KV<Long, Iterable<byte[]>> group) {
      addTwice(group.getValue());
    }
  }

  /** Keeps the values in state until the end of time. */
  static final class BagFn extends DoFn<KV<Long, byte[]>, Void> {
    @StateId("values")
    private final StateSpec<BagState<byte[]>> valuesSpec = StateSpecs.bag(ByteArrayCoder.of());

    @TimerId("end")
    final TimerSpec endSpec = TimerSpecs.timer(TimeDomain.EVENT_TIME);

    @ProcessElement
    public void process(
        @Element KV<Long, byte[]> element,
        BoundedWindow window,
        @StateId("values") BagState<byte[]> values,
        @TimerId("end") Timer end) {
      values.add(element.getValue());
      end.set(window.maxTimestamp());
    }

    @OnTimer("end")
    public void onEnd(@StateId("values") BagState<byte[]> values) {
      addTwice(values.read());
    }
  }

  private static final class KeyFn extends DoFn<Long, KV<Long, Long>> {
    @ProcessElement
    public void process(@Element Long number, OutputReceiver<KV<Long, Long>> out) {
      out.output(KV.of(number, number));
    }
  }

  private static final class ResultFn extends DoFn<KV<Long, Long>, Void> {
    @ProcessElement
    public void process(@Element KV<Long, Long> result) {
      RESULTS.incrementAndGet();
      SUM.addAndGet(result.getValue());
    }
  }

  /** Keeps every value whole: an accumulator is as large as all that was added to it. */
  private static final class ConcatenateFn extends Combine.CombineFn<byte[], byte[], byte[]> {
    @Override
    public byte[] createAccumulator() {
      return new byte[0];
    }

    @Override
    public byte[] addInput(byte[] accumulator, byte[] input) {
      byte[] longer = Arrays.copyOf(accumulator, accumulator.length + input.length);
      System.arraycopy(input, 0, longer, accumulator.length, input.length);
      return longer;
    }

    @Override
    public byte[] mergeAccumulators(Iterable<byte[]> accumulators) {
      byte[] merged = new byte[0];
      for (byte[] accumulator : accumulators) {
        merged = addInput(merged, accumulator);
      }
      return merged;
    }

    @Override
    public byte[] extractOutput(byte[] accumulator) {
      return accumulator;
    }
  }

  private static final class CutFn extends DoFn<KV<Long, byte[]>, Void> {
    @ProcessElement
    public void process(@Element KV<Long, byte[]> list) {
      for (int from = 0; from < list.getValue().length; from += VALUE_BYTES) {
        RESULTS.incrementAndGet();
        SUM.addAndGet(ByteBuffer.wrap(list.getValue(), from, Long.BYTES).getLong());
      }
    }
  }
}
