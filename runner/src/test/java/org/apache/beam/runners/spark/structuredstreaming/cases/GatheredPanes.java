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

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorder;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.transforms.windowing.PaneInfo;
import org.joda.time.Instant;

/**
 * Takes the panes that pass into sets of this JVM, whichever runner brings them, with all that is
 * known of them. A pane that comes again because its epoch was run again is there once.
 */
final class GatheredPanes<T> extends DoFn<T, Void> {
  private static final Map<String, Set<String>> SETS = new ConcurrentHashMap<>();

  private final String set;

  /** Gathers into the set of this name. */
  GatheredPanes(String set) {
    this.set = set;
  }

  /** What came into a set, by window and pane. */
  static List<String> set(String name) {
    return SETS.getOrDefault(name, Set.of()).stream().sorted().toList();
  }

  @ProcessElement
  public void process(
      @Element T element, @Timestamp Instant timestamp, BoundedWindow window, PaneInfo pane) {
    SETS.computeIfAbsent(set, name -> ConcurrentHashMap.newKeySet())
        .add(
            String.format(
                "to %d: %d/%d %s%s %s at %d",
                window.maxTimestamp().getMillis(),
                pane.getIndex(),
                pane.getNonSpeculativeIndex(),
                pane.getTiming(),
                pane.isLast() ? " last" : "",
                Recorder.text(element),
                timestamp.getMillis()));
  }
}
