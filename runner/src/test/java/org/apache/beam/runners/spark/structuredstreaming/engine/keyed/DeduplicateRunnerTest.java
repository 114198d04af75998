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
package org.apache.beam.runners.spark.structuredstreaming.engine.keyed;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.lessThanOrEqualTo;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.StepBench.Epoch;
import org.apache.beam.runners.spark.structuredstreaming.translation.DeduplicateStep;
import org.apache.beam.runners.spark.structuredstreaming.translation.PlanCollection;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.values.ValueWithRecordId;
import org.apache.beam.sdk.values.ValueWithRecordId.ValueWithRecordIdCoder;
import org.apache.beam.sdk.values.WindowedValue;
import org.apache.beam.sdk.values.WindowedValues;
import org.apache.beam.sdk.values.WindowingStrategy;
import org.joda.time.Instant;
import org.junit.jupiter.api.Test;

/** Records by their ids, over epochs whose processing times are given. */
class DeduplicateRunnerTest {
  private static final long RETENTION = 600_000;
  private static final long SLOT = RETENTION / 10;
  private static final long START = 1_000_000_007L;

  private final StepBench bench = new StepBench(step(), (output, container, rows, time) ->
      new DeduplicateRunner(step(), output, container, rows, time, RETENTION));

  private static DeduplicateStep step() {
    PlanCollection input =
        new PlanCollection(
            0,
            "records",
            ValueWithRecordIdCoder.of(StringUtf8Coder.of()),
            WindowingStrategy.globalDefault());
    PlanCollection output =
        new PlanCollection(
            1, "values", StringUtf8Coder.of(), WindowingStrategy.globalDefault());
    return new DeduplicateStep(1, "Read/Deduplicate", 1, input, output);
  }

  /** Records whose ids are the letters and whose values tell the letter and the epoch. */
  private List<String> run(long time, String ids) throws IOException {
    return run(time, 0, ids).values().stream().map(String::valueOf).toList();
  }

  private Epoch run(long time, long watermark, String ids) throws IOException {
    List<WindowedValue<Object>> records = new ArrayList<>();
    for (int i = 0; i < ids.length(); i++) {
      String id = ids.substring(i, i + 1);
      records.add(
          WindowedValues.timestampedValueInGlobalWindow(
              new ValueWithRecordId<>(id + i, id.getBytes(StandardCharsets.UTF_8)),
              Instant.ofEpochMilli(i)));
    }
    return bench.run(time, watermark, records);
  }

  @Test
  void theFirstRecordOfAnIdPassesAndNoOther() throws IOException {
    assertThat(run(START, "abab"), is(List.of("a0", "b1")));
    assertThat(run(START + 1, "ca"), is(List.of("c0")));
  }

  @Test
  void timestampsAndTheWatermarkPassUnchanged() throws IOException {
    Epoch epoch = run(START, 77, "xxy");
    assertThat(
        epoch.output(),
        is(
            List.of(
                WindowedValues.timestampedValueInGlobalWindow("x0", Instant.ofEpochMilli(0)),
                WindowedValues.timestampedValueInGlobalWindow("y2", Instant.ofEpochMilli(2)))));
    assertThat(epoch.outputWatermark(), is(77L));
  }

  @Test
  void anIdIsRememberedAsLongAsItWasSeenWithinTheRetention() throws IOException {
    run(START, "a");
    assertThat(run(START + RETENTION, "a"), empty());
    // Seen again, if only to be dropped, it is remembered anew.
    assertThat(run(START + 2 * RETENTION, "a"), empty());
    assertThat(run(START + 2 * RETENTION + RETENTION + SLOT, "a"), is(List.of("a0")));
    assertThat(run(START + 2 * RETENTION + RETENTION + SLOT, "a"), empty());
  }

  @Test
  void whatIsForgottenHasNoRows() throws IOException {
    run(START, "abc");
    int rowsOfThree = bench.rows();
    run(START + RETENTION / 2, "d");
    run(START + RETENTION + SLOT, "");
    assertThat(bench.rows(), lessThanOrEqualTo(rowsOfThree - 4));
    run(START + RETENTION / 2 + RETENTION + SLOT, "");
    assertThat(bench.rows(), is(0));
  }

  @Test
  void anIdThatIsSeenAgainWhileItIsForgottenIsFiledOnce() throws IOException {
    run(START, "a");
    long later = START + RETENTION + SLOT;
    assertThat(run(later, "a"), is(List.of("a0")));
    assertThat(run(later + RETENTION, "a"), empty());
    run(later + 2 * RETENTION + SLOT, "");
    assertThat(bench.rows(), is(0));
  }
}
