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

import java.util.Set;
import org.apache.beam.sdk.coders.VarLongCoder;
import org.apache.beam.sdk.state.BagState;
import org.apache.beam.sdk.state.StateSpec;
import org.apache.beam.sdk.state.StateSpecs;
import org.apache.beam.sdk.state.ValueState;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.values.KV;

/** Joins a person of some states with what he or she sells, whichever comes first. */
final class LocalItems extends DoFn<KV<Long, AuctionEvent>, KV<Long, Long>> {
  static final Set<String> STATES = Set.of("OR", "ID", "CA");
  static final long CATEGORY = 10;

  @StateId("local")
  private final StateSpec<ValueState<Long>> localSpec = StateSpecs.value(VarLongCoder.of());

  @StateId("waiting")
  private final StateSpec<BagState<Long>> waitingSpec = StateSpecs.bag(VarLongCoder.of());

  /** Whether the query is about an event: all persons are kept, so that auctions do not wait for ever. */
  static boolean concerns(AuctionEvent event) {
    return event instanceof AuctionEvent.Person
        || (event instanceof AuctionEvent.Auction auction && auction.category() == CATEGORY);
  }

  @ProcessElement
  public void process(
      @Element KV<Long, AuctionEvent> element,
      @StateId("local") ValueState<Long> local,
      @StateId("waiting") BagState<Long> waiting,
      OutputReceiver<KV<Long, Long>> output) {
    if (element.getValue() instanceof AuctionEvent.Person person) {
      boolean isLocal = STATES.contains(person.state());
      local.write(isLocal ? 1L : 0L);
      if (isLocal) {
        for (long auction : waiting.read()) {
          output.output(KV.of(auction, person.id()));
        }
      }
      waiting.clear();
    } else if (element.getValue() instanceof AuctionEvent.Auction auction) {
      Long known = local.read();
      if (known == null) {
        waiting.add(auction.id());
      } else if (known == 1) {
        output.output(KV.of(auction.id(), element.getKey()));
      }
    }
  }
}
