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

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.beam.sdk.metrics.Counter;
import org.apache.beam.sdk.metrics.Metrics;
import org.apache.beam.sdk.transforms.DoFn;

/** Takes elements into this JVM's memory and counts them as {@code test/collected}. */
final class Collected<T> extends DoFn<T, T> {
  private static final Map<Long, List<Object>> LISTS = new ConcurrentHashMap<>();
  private static final AtomicLong NEXT_ID = new AtomicLong();

  private final long id = NEXT_ID.getAndIncrement();
  private final Counter counter = Metrics.counter("test", "collected");

  Collected() {
    LISTS.put(id, new CopyOnWriteArrayList<>());
  }

  @ProcessElement
  public void process(@Element T element, OutputReceiver<T> output) {
    LISTS.get(id).add(element);
    counter.inc();
    output.output(element);
  }

  List<Object> list() {
    return LISTS.get(id);
  }
}
