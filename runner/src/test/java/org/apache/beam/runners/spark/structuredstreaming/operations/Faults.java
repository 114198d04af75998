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
package org.apache.beam.runners.spark.structuredstreaming.operations;

import java.io.IOException;
import java.io.InputStream;
import java.io.ObjectInputStream;
import java.io.OutputStream;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.coders.CoderRegistry;
import org.apache.beam.sdk.coders.CustomCoder;
import org.apache.beam.sdk.coders.VarLongCoder;
import org.apache.beam.sdk.transforms.Combine.CombineFn;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.IntervalWindow;
import org.apache.beam.sdk.transforms.windowing.NonMergingWindowFn;
import org.apache.beam.sdk.transforms.windowing.WindowFn;
import org.apache.beam.sdk.transforms.windowing.WindowMappingFn;
import org.joda.time.Duration;

/** User code that fails where the test says, until it says otherwise. For local masters. */
final class Faults {
  private static final Set<Place> FAILING = EnumSet.noneOf(Place.class);
  private static final AtomicBoolean FIRST_PASSES = new AtomicBoolean();
  private static final AtomicInteger SET_UPS = new AtomicInteger();
  private static final AtomicInteger TEAR_DOWNS = new AtomicInteger();

  private Faults() {}

  /** A method of user code. */
  enum Place {
    DESERIALIZE,
    SETUP,
    START_BUNDLE,
    PROCESS,
    FINISH_BUNDLE,
    TEARDOWN,
    CREATE,
    ADD,
    MERGE,
    EXTRACT,
    ENCODE,
    DECODE,
    ASSIGN_WINDOW
  }

  /** What fails here fails with. */
  static final class Injected extends RuntimeException {
    Injected() {
      super("injected");
    }
  }

  static void failAt(Place... places) {
    synchronized (FAILING) {
      FAILING.addAll(Set.of(places));
    }
  }

  /** Fails from the second time on that the place is reached. */
  static void failAtSecond(Place place) {
    failAt(place);
    FIRST_PASSES.set(true);
  }

  static void mend() {
    synchronized (FAILING) {
      FAILING.clear();
    }
    FIRST_PASSES.set(false);
    SET_UPS.set(0);
    TEAR_DOWNS.set(0);
  }

  static int setUps() {
    return SET_UPS.get();
  }

  static int tearDowns() {
    return TEAR_DOWNS.get();
  }

  private static void reached(Place place) {
    synchronized (FAILING) {
      if (FAILING.contains(place) && !FIRST_PASSES.getAndSet(false)) {
        throw new Injected();
      }
    }
  }

  /** Passes its input on. */
  static final class FaultyDoFn extends DoFn<Long, Long> {
    private void readObject(ObjectInputStream in) throws IOException, ClassNotFoundException {
      in.defaultReadObject();
      reached(Place.DESERIALIZE);
    }

    @Setup
    public void setUp() {
      SET_UPS.incrementAndGet();
      reached(Place.SETUP);
    }

    @StartBundle
    public void startBundle() {
      reached(Place.START_BUNDLE);
    }

    @ProcessElement
    public void process(@Element Long number, OutputReceiver<Long> output) {
      reached(Place.PROCESS);
      output.output(number);
    }

    @FinishBundle
    public void finishBundle() {
      reached(Place.FINISH_BUNDLE);
    }

    @Teardown
    public void tearDown() {
      TEAR_DOWNS.incrementAndGet();
      reached(Place.TEARDOWN);
    }
  }

  /** Adds up. */
  static final class FaultySum extends CombineFn<Long, Long, Long> {
    @Override
    public Long createAccumulator() {
      reached(Place.CREATE);
      return 0L;
    }

    @Override
    public Long addInput(Long accumulator, Long input) {
      reached(Place.ADD);
      return accumulator + input;
    }

    @Override
    public Long mergeAccumulators(Iterable<Long> accumulators) {
      reached(Place.MERGE);
      long sum = 0;
      for (Long accumulator : accumulators) {
        sum += accumulator;
      }
      return sum;
    }

    @Override
    public Long extractOutput(Long accumulator) {
      reached(Place.EXTRACT);
      return accumulator;
    }

    @Override
    public Coder<Long> getAccumulatorCoder(CoderRegistry registry, Coder<Long> input) {
      return new FaultyCoder();
    }
  }

  /** Writes numbers as {@link VarLongCoder} does. */
  static final class FaultyCoder extends CustomCoder<Long> {
    @Override
    public void encode(Long value, OutputStream out) throws IOException {
      reached(Place.ENCODE);
      VarLongCoder.of().encode(value, out);
    }

    @Override
    public Long decode(InputStream in) throws IOException {
      reached(Place.DECODE);
      return VarLongCoder.of().decode(in);
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof FaultyCoder;
    }

    @Override
    public int hashCode() {
      return 1;
    }
  }

  /** Windows of 10 ms. */
  static final class FaultyWindows extends NonMergingWindowFn<Object, IntervalWindow> {
    @Override
    public Collection<IntervalWindow> assignWindows(AssignContext context) {
      reached(Place.ASSIGN_WINDOW);
      return List.of(
          FixedWindows.of(Duration.millis(10)).assignWindow(context.timestamp()));
    }

    @Override
    @Deprecated
    public boolean isCompatible(WindowFn<?, ?> other) {
      return other instanceof FaultyWindows;
    }

    @Override
    public Coder<IntervalWindow> windowCoder() {
      return IntervalWindow.getCoder();
    }

    @Override
    public WindowMappingFn<IntervalWindow> getDefaultWindowMappingFn() {
      return new WindowMappingFn<IntervalWindow>() {
        @Override
        public IntervalWindow getSideInputWindow(BoundedWindow window) {
          return (IntervalWindow) window;
        }
      };
    }
  }
}
