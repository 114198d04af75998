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

import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.coders.VarLongCoder;
import org.apache.beam.sdk.state.BagState;
import org.apache.beam.sdk.state.StateSpec;
import org.apache.beam.sdk.state.StateSpecs;
import org.apache.beam.sdk.state.TimeDomain;
import org.apache.beam.sdk.state.Timer;
import org.apache.beam.sdk.state.TimerSpec;
import org.apache.beam.sdk.state.TimerSpecs;
import org.apache.beam.sdk.state.ValueState;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.TimestampedValue;
import org.joda.time.Duration;
import org.joda.time.Instant;

/**
 * For each auction, when it ends: the auction, and the highest price that was bid before, unless it is below
 * the reserve. Bids may come before their auction, from another split; those that come after its end are
 * not kept for long.
 */
final class WinningBids extends DoFn<KV<Long, AuctionEvent>, KV<Long, AuctionEvent>> {
  private static final Duration LONGEST = Duration.standardSeconds(12);

  @StateId("auction")
  private final StateSpec<ValueState<AuctionEvent>> auctionSpec =
      StateSpecs.value(new AuctionEvent.EventCoder());

  @StateId("best")
  private final StateSpec<ValueState<Long>> bestSpec = StateSpecs.value(VarLongCoder.of());

  @StateId("early")
  private final StateSpec<BagState<TimestampedValue<Long>>> earlySpec = StateSpecs.bag(earlyCoder());

  @TimerId("end")
  private final TimerSpec endSpec = TimerSpecs.timer(TimeDomain.EVENT_TIME);

  private static Coder<TimestampedValue<Long>> earlyCoder() {
    return TimestampedValue.TimestampedValueCoder.of(VarLongCoder.of());
  }

  @ProcessElement
  public void process(
      @Element KV<Long, AuctionEvent> element,
      @Timestamp Instant timestamp,
      @StateId("auction") ValueState<AuctionEvent> auction,
      @StateId("best") ValueState<Long> best,
      @StateId("early") BagState<TimestampedValue<Long>> early,
      @TimerId("end") Timer end) {
    if (element.getValue() instanceof AuctionEvent.Auction opened) {
      auction.write(opened);
      for (TimestampedValue<Long> bid : early.read()) {
        bid(opened, bid.getTimestamp(), bid.getValue(), best);
      }
      early.clear();
      end.set(Instant.ofEpochMilli(opened.expires()));
    } else if (element.getValue() instanceof AuctionEvent.Bid bid) {
      if (auction.read() instanceof AuctionEvent.Auction opened) {
        bid(opened, timestamp, bid.price(), best);
      } else {
        early.add(TimestampedValue.of(bid.price(), timestamp));
        end.set(timestamp.plus(LONGEST));
      }
    }
  }

  private static void bid(
      AuctionEvent.Auction auction, Instant timestamp, long price, ValueState<Long> best) {
    if (timestamp.getMillis() < auction.expires() && price >= auction.reserve()) {
      Long before = best.read();
      if (before == null || price > before) {
        best.write(price);
      }
    }
  }

  @OnTimer("end")
  public void onEnd(
      @StateId("auction") ValueState<AuctionEvent> auction,
      @StateId("best") ValueState<Long> best,
      @StateId("early") BagState<TimestampedValue<Long>> early,
      OutputReceiver<KV<Long, AuctionEvent>> output) {
    Long price = best.read();
    if (price != null) {
      output.output(KV.of(price, auction.read()));
    }
    auction.clear();
    best.clear();
    early.clear();
  }
}
