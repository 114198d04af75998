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

import java.util.ArrayList;
import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.ScriptedSource;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.ScriptedSource.Burst;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.ScriptedSource.Emit;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.ScriptedSource.Pause;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.ScriptedSource.Regress;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.ScriptedSource.Step;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.ScriptedSource.Watermark;
import org.apache.beam.sdk.io.Read;

/**
 * Writes the script of one split, in seconds of event time. Without a record limit an epoch takes
 * everything up to the next {@link #epoch}.
 */
public final class Script {
  private final List<Step> steps = new ArrayList<>();

  /** A script that does nothing yet. */
  public static Script split() {
    return new Script();
  }

  /** A source of one split for each script; its trace has the same name. */
  public static ScriptedSource source(String name, Script... splits) {
    return ScriptedSource.of(name, List.of(splits).stream().map(split -> List.copyOf(split.steps)).toList());
  }

  /** A transform that reads a source of one split for each script; its trace has the same name. */
  public static Read.Unbounded<String> read(String name, Script... splits) {
    return Read.from(source(name, splits));
  }

  /** Gives a record. */
  public Script at(double second, String value) {
    steps.add(new Emit(value, millis(second)));
    return this;
  }

  /** Gives the records {@code prefix + 0..count-1}. */
  public Script burst(double second, String prefix, int count) {
    steps.add(new Burst(prefix, count, millis(second)));
    return this;
  }

  /** Moves the watermark. */
  public Script watermark(double second) {
    steps.add(new Watermark(millis(second)));
    return this;
  }

  /** Reports a watermark that may lie before the last one. */
  public Script regress(double second) {
    steps.add(new Regress(millis(second)));
    return this;
  }

  /** Has nothing more in this epoch. */
  public Script epoch() {
    return epochs(1);
  }

  /** Has nothing more in this epoch, and nothing at all in {@code count - 1} following ones. */
  public Script epochs(int count) {
    steps.add(new Pause(count));
    return this;
  }

  /** Has nothing more, for as long as a test may last. */
  public Script idle() {
    return epochs(Integer.MAX_VALUE);
  }

  /** Moves the watermark to the end of time. */
  public Script end() {
    steps.add(new Watermark(ScriptedSource.END_OF_TIME));
    return this;
  }

  private static long millis(double second) {
    return Math.round(second * 1000);
  }
}
