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
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorder;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.joda.time.Instant;

/** Takes what passes into lists of this JVM, whichever runner brings it. */
final class Gathered<T> extends DoFn<T, Void> {
  private static final Map<String, Queue<String>> LISTS = new ConcurrentHashMap<>();

  private final String list;

  /** Gathers into the list of this name. */
  Gathered(String list) {
    this.list = list;
    LISTS.put(list, new ConcurrentLinkedQueue<>());
  }

  /** What came into a list: values with their timestamps and windows, sorted. */
  static List<String> list(String name) {
    return LISTS.get(name).stream().sorted().toList();
  }

  @ProcessElement
  public void process(@Element T element, @Timestamp Instant timestamp, BoundedWindow window) {
    LISTS.get(list).add(Recorder.text(element) + " at " + timestamp + " in " + window);
  }
}
