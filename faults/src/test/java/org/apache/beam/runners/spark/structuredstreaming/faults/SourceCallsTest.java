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
package org.apache.beam.runners.spark.structuredstreaming.faults;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.greaterThan;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.lessThanOrEqualTo;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What Beam calls on sources when nothing fails; whatever fails, {@link CallRules} hold as well. */
class SourceCallsTest {
  private static final int EXECUTORS = 2;

  /** The last mark of a split, which no later epoch can finalize. */
  private static final int LAST = 1;

  @TempDir Path directory;

  @Test
  void aHealthyRunFinalizesAllMarksButTheLast() throws Exception {
    FaultRun run = new FaultRun(directory, Rotation.all(), 5, EXECUTORS, List.of()).toTheEnd();
    Map<String, List<Long>> unfinalized = CallRules.unfinalized(run.calls());
    unfinalized.forEach(
        (split, epochs) -> assertThat(split + ": " + epochs, epochs.size(), lessThanOrEqualTo(LAST)));
    assertThat(created(run), is(run.calls().stream().map(CallLog.Call::ofSplit).distinct().count()));
  }

  /**
   * Readers are idle between two epochs for longer than their time-out: each epoch has new ones. They
   * are closed before their epoch is committed, which is too early for their marks to be finalized.
   */
  @Test
  void readersThatAreIdleForTooLongAreClosedAndRestored() throws Exception {
    FaultRun run =
        new FaultRun(directory, List.of(SeededPipeline.COUNTS), 6, EXECUTORS, List.of())
            .with("--readerIdleTimeoutMillis=1")
            .toTheEnd();
    assertThat(created(run), greaterThan(10L));
  }

  private static long created(FaultRun run) {
    return run.calls().stream().filter(call -> call.kind() == CallLog.Kind.CREATE).count();
  }
}
