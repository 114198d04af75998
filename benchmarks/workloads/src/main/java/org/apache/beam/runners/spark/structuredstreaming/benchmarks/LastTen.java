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

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.coders.CoderRegistry;
import org.apache.beam.sdk.coders.KvCoder;
import org.apache.beam.sdk.coders.ListCoder;
import org.apache.beam.sdk.coders.VarLongCoder;
import org.apache.beam.sdk.transforms.Combine;
import org.apache.beam.sdk.values.KV;

/** Mean price of the last ten auctions of a seller, each given as its number and its price. */
final class LastTen extends Combine.CombineFn<KV<Long, Long>, List<KV<Long, Long>>, Long> {
  private static final int MOST = 10;

  private static final Comparator<KV<Long, Long>> BY_NUMBER =
      (Comparator<KV<Long, Long>> & Serializable) (a, b) -> Long.compare(a.getKey(), b.getKey());

  @Override
  public List<KV<Long, Long>> createAccumulator() {
    return new ArrayList<>();
  }

  @Override
  public List<KV<Long, Long>> addInput(List<KV<Long, Long>> last, KV<Long, Long> auction) {
    List<KV<Long, Long>> more = new ArrayList<>(last);
    more.add(auction);
    return last(more);
  }

  @Override
  public List<KV<Long, Long>> mergeAccumulators(Iterable<List<KV<Long, Long>>> lists) {
    List<KV<Long, Long>> all = new ArrayList<>();
    lists.forEach(all::addAll);
    return last(all);
  }

  private static List<KV<Long, Long>> last(List<KV<Long, Long>> auctions) {
    auctions.sort(BY_NUMBER);
    return new ArrayList<>(auctions.subList(Math.max(0, auctions.size() - MOST), auctions.size()));
  }

  @Override
  public Long extractOutput(List<KV<Long, Long>> last) {
    return last.stream().mapToLong(KV::getValue).sum() / Math.max(1, last.size());
  }

  @Override
  public Coder<List<KV<Long, Long>>> getAccumulatorCoder(
      CoderRegistry registry, Coder<KV<Long, Long>> inputCoder) {
    return ListCoder.of(KvCoder.of(VarLongCoder.of(), VarLongCoder.of()));
  }
}
