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

/**
 * Of 50 events one is a person, three are auctions and 46 bids, as in the Nexmark benchmark. Sellers and
 * bidders are among the last 1,000 persons. Half of the bids are for one auction of a hundred, the others
 * for any of the last 100. Auctions end after one to eleven seconds.
 */
record AuctionEvents() implements Generator<AuctionEvent> {
  private static final int CYCLE = 50;
  private static final int AUCTIONS = 3;
  private static final int RECENT_AUCTIONS = 100;
  private static final int RECENT_PERSONS = 1000;
  private static final long FIRST_CATEGORY = 10;
  private static final String[] STATES = {"AZ", "CA", "ID", "OR", "WA", "WY"};

  @Override
  public AuctionEvent record(long number) {
    int turn = (int) (number % CYCLE);
    if (turn == 0) {
      return person(number / CYCLE);
    }
    long random = Results.mix(number);
    if (turn <= AUCTIONS) {
      return new AuctionEvent.Auction(
          number / CYCLE * AUCTIONS + turn - 1,
          recent(number / CYCLE, RECENT_PERSONS, random),
          FIRST_CATEGORY + (random >>> 20) % 5,
          (random >>> 24) % 5000,
          millis(number) + 1000 + (random >>> 32) % 10_000,
          "item " + Long.toHexString(random));
    }
    long lastAuction = number / CYCLE * AUCTIONS + AUCTIONS - 1;
    return new AuctionEvent.Bid(
        (random & 1) == 0
            ? lastAuction / RECENT_AUCTIONS * RECENT_AUCTIONS
            : recent(lastAuction, RECENT_AUCTIONS, random >>> 1),
        recent(number / CYCLE, RECENT_PERSONS, random >>> 16),
        100 + (random >>> 32) % 10_000);
  }

  static AuctionEvent.Person person(long id) {
    long random = Results.mix(-id);
    return new AuctionEvent.Person(
        id, "person " + Long.toHexString(random), STATES[(int) Math.floorMod(random, 6L)]);
  }

  private static long recent(long last, long most, long random) {
    return last - Math.floorMod(random, Math.min(most, last + 1));
  }

  @Override
  public Coder<AuctionEvent> coder() {
    return new AuctionEvent.EventCoder();
  }
}
