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
package org.apache.beam.runners.spark.structuredstreaming.benchmarks;

import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.Sum;

/** All workloads by name. */
final class Workloads {
  private static final int LAST_QUERY = 8;
  private static final Map<String, Supplier<Workload>> ALL = new TreeMap<>();

  static {
    ALL.put("sum", () -> new KeyedSums(Input.STREAM, Sum.longsPerKey()));
    ALL.put("group", () -> new KeyedSums(Input.STREAM, new SumOfGroups()));
    ALL.put("state", () -> new KeyedSums(Input.STREAM, ParDo.of(new SumInState())));
    ALL.put("sessions", UserSessions::new);
    ALL.put("chain", Chain::new);
    ALL.put("sliding", Sliding::new);
    ALL.put("side-input", Enrichment::new);
    ALL.put("join", () -> new Join(Input.STREAM));
    ALL.put("chained", Chained::new);
    for (int query = 0; query <= LAST_QUERY; query++) {
      AuctionQueries queries = new AuctionQueries(query);
      ALL.put("auctions-" + query, () -> queries);
    }
    ALL.put("batch-wordcount", WordCount::new);
    ALL.put("batch-join", () -> new Join(Input.BATCH));
    ALL.put("batch-sort", Sort::new);
    ALL.put("batch-sum", () -> new KeyedSums(Input.BATCH, Sum.longsPerKey()));
    ALL.put("batch-group", () -> new KeyedSums(Input.BATCH, new SumOfGroups()));
  }

  private Workloads() {}

  static Iterable<String> names() {
    return ALL.keySet();
  }

  static Workload named(String name) {
    Supplier<Workload> workload = ALL.get(name);
    if (workload == null) {
      throw new IllegalArgumentException(
          "There is no workload " + name + ", only " + String.join(", ", ALL.keySet()) + ".");
    }
    return workload.get();
  }
}
