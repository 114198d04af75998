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
package org.apache.beam.runners.spark.structuredstreaming.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.beam.sdk.coders.VarLongCoder;
import org.apache.beam.sdk.state.StateSpec;
import org.apache.beam.sdk.state.StateSpecs;
import org.apache.beam.sdk.state.ValueState;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.values.KV;

/**
 * A DoFn one of whose calls fails, and that writes into files of a directory which of its instances
 * were set up and torn down: so it works for executors in processes of their own.
 */
public abstract class FailingLifecycleFn extends DoFn<KV<String, Long>, Long> {
  /** The calls that may fail. */
  public enum Call {
    SETUP,
    START_BUNDLE,
    PROCESS,
    FINISH_BUNDLE
  }

  private static final String SET_UP = "set-up-";
  private static final String TORN_DOWN = "torn-down-";

  private final String directory;
  private final Call failing;
  private transient String instance;

  private FailingLifecycleFn(Path directory, Call failing) {
    this.directory = directory.toString();
    this.failing = failing;
  }

  /**
   * A new DoFn.
   *
   * @param directory exists, of this DoFn alone
   * @param stateful whether it has state
   */
  public static FailingLifecycleFn of(Path directory, Call failing, boolean stateful) {
    return stateful ? new Stateful(directory, failing) : new Stateless(directory, failing);
  }

  /** The instances that were set up. */
  public static Set<String> setUp(Path directory) {
    return instances(directory, SET_UP);
  }

  /** The instances that were torn down. */
  public static Set<String> tornDown(Path directory) {
    return instances(directory, TORN_DOWN);
  }

  private static Set<String> instances(Path directory, String call) {
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.startsWith(call))
          .map(name -> name.substring(call.length()))
          .collect(Collectors.toCollection(TreeSet::new));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Setup
  public void setUp() {
    instance = UUID.randomUUID().toString();
    note(SET_UP);
    failIf(Call.SETUP);
  }

  @StartBundle
  public void startBundle() {
    failIf(Call.START_BUNDLE);
  }

  @FinishBundle
  public void finishBundle() {
    failIf(Call.FINISH_BUNDLE);
  }

  /** A second tear-down of an instance fails, as its file is there. */
  @Teardown
  public void tearDown() {
    note(TORN_DOWN);
  }

  private void note(String call) {
    try {
      Files.createFile(Path.of(directory, call + instance));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  final void failIf(Call call) {
    if (call == failing) {
      throw new IllegalStateException("fails on purpose in " + call);
    }
  }

  private static final class Stateless extends FailingLifecycleFn {
    Stateless(Path directory, Call failing) {
      super(directory, failing);
    }

    @ProcessElement
    public void process(@Element KV<String, Long> element, OutputReceiver<Long> out) {
      failIf(Call.PROCESS);
      out.output(element.getValue());
    }
  }

  private static final class Stateful extends FailingLifecycleFn {
    private static final String SUM = "sum";

    @StateId(SUM)
    private final StateSpec<ValueState<Long>> sumSpec = StateSpecs.value(VarLongCoder.of());

    Stateful(Path directory, Call failing) {
      super(directory, failing);
    }

    @ProcessElement
    public void process(
        @Element KV<String, Long> element,
        @StateId(SUM) ValueState<Long> sum,
        OutputReceiver<Long> out) {
      failIf(Call.PROCESS);
      sum.write(element.getValue());
      out.output(element.getValue());
    }
  }
}
