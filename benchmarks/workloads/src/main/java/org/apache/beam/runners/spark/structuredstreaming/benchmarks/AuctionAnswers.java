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

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import org.apache.beam.sdk.transforms.windowing.GlobalWindow;
import org.apache.beam.sdk.values.KV;

/** What the queries have to answer, by plain code that goes through the events in their order. */
final class AuctionAnswers {
  private static final long WINDOW = AuctionQueries.WINDOW_MILLIS;
  private static final long GLOBAL = GlobalWindow.INSTANCE.maxTimestamp().getMillis();

  private final AuctionEvents events = new AuctionEvents();
  private final Results.Expected expected = new Results.Expected();
  private final long records;

  AuctionAnswers(long records) {
    this.records = records;
  }

  /** A key in the window whose end is given. */
  private record Cell(long end, long key) {}

  /** An auction and the highest price so far, 0 if there was none. */
  private static final class Open {
    private final AuctionEvent.Auction auction;
    private long price;

    Open(AuctionEvent.Auction auction) {
      this.auction = auction;
    }
  }

  Totals answer(int query) {
    switch (query) {
      case 0 -> forEach((millis, event) -> add(GLOBAL, AuctionQueries.passThrough(event)));
      case 1 ->
          forEachBid(
              (millis, bid) -> expected.add(bid.auction(), GLOBAL, AuctionQueries.euro(bid.price())));
      case 2 ->
          forEachBid(
              (millis, bid) -> {
                if (bid.auction() % AuctionQueries.SKIP == 0) {
                  expected.add(bid.auction(), GLOBAL, bid.price());
                }
              });
      case 3 -> forEach((millis, event) -> localItem(event));
      case 4 -> averages();
      case 5 -> hotItems();
      case 6 -> lastTen();
      case 7 -> highestBids();
      case 8 -> newSellers();
      default -> throw new IllegalArgumentException("There is no query " + query);
    }
    return expected.totals();
  }

  private void forEach(BiConsumer<Long, AuctionEvent> consumer) {
    for (long number = 0; number < records; number++) {
      consumer.accept(events.millis(number), events.record(number));
    }
  }

  private void forEachBid(BiConsumer<Long, AuctionEvent.Bid> consumer) {
    forEach(
        (millis, event) -> {
          if (event instanceof AuctionEvent.Bid bid) {
            consumer.accept(millis, bid);
          }
        });
  }

  private void add(long windowMillis, KV<Long, Long> result) {
    expected.add(result.getKey(), windowMillis, result.getValue());
  }

  private static long end(long millis) {
    return (millis / WINDOW + 1) * WINDOW - 1;
  }

  private void localItem(AuctionEvent event) {
    if (event instanceof AuctionEvent.Auction auction
        && auction.category() == LocalItems.CATEGORY
        && LocalItems.STATES.contains(AuctionEvents.person(auction.seller()).state())) {
      expected.add(auction.id(), GLOBAL, auction.seller());
    }
  }

  /** Auctions that were won, by number. */
  private List<Open> won() {
    Map<Long, Open> auctions = new HashMap<>();
    // Bids of the same millisecond may come before their auction.
    forEach(
        (millis, event) -> {
          if (event instanceof AuctionEvent.Auction auction) {
            auctions.put(auction.id(), new Open(auction));
          }
        });
    forEachBid(
        (millis, bid) -> {
          Open open = auctions.get(bid.auction());
          if (open != null && millis < open.auction.expires() && bid.price() >= open.auction.reserve()) {
            open.price = Math.max(open.price, bid.price());
          }
        });
    return auctions.values().stream()
        .filter(open -> open.price > 0)
        .sorted((a, b) -> Long.compare(a.auction.id(), b.auction.id()))
        .toList();
  }

  private void averages() {
    Map<Cell, List<Long>> prices = new HashMap<>();
    for (Open open : won()) {
      prices
          .computeIfAbsent(
              new Cell(end(open.auction.expires()), open.auction.category()), cell -> new ArrayList<>())
          .add(open.price);
    }
    prices.forEach((cell, list) -> expected.add(cell.key(), cell.end(), mean(list)));
  }

  private void lastTen() {
    Map<Cell, List<Long>> prices = new HashMap<>();
    for (Open open : won()) {
      prices
          .computeIfAbsent(
              new Cell(end(open.auction.expires()), open.auction.seller()), cell -> new ArrayList<>())
          .add(open.price);
    }
    prices.forEach(
        (cell, list) ->
            expected.add(
                cell.key(),
                cell.end(),
                mean(list.subList(Math.max(0, list.size() - 10), list.size()))));
  }

  private static long mean(List<Long> numbers) {
    return numbers.stream().mapToLong(Long::longValue).sum() / numbers.size();
  }

  private void hotItems() {
    Map<Long, Map<Long, Long>> counts = new HashMap<>();
    forEachBid(
        (millis, bid) -> {
          long last = (millis / AuctionQueries.PERIOD_MILLIS + 1) * AuctionQueries.PERIOD_MILLIS - 1;
          for (long end = last; end < last + WINDOW; end += AuctionQueries.PERIOD_MILLIS) {
            counts.computeIfAbsent(end, e -> new HashMap<>()).merge(bid.auction(), 1L, Long::sum);
          }
        });
    counts.forEach(
        (end, ofAuctions) ->
            add(
                end,
                AuctionQueries.hottest(
                    ofAuctions.entrySet().stream()
                        .map(count -> KV.of(count.getKey(), count.getValue()))
                        .toList())));
  }

  private void highestBids() {
    Map<Long, Long> highest = new HashMap<>();
    forEachBid((millis, bid) -> highest.merge(end(millis), bid.price(), Math::max));
    forEachBid(
        (millis, bid) -> {
          if (bid.price() == highest.get(end(millis))) {
            expected.add(bid.auction(), end(millis), bid.price());
          }
        });
  }

  private void newSellers() {
    Map<Cell, Long> auctions = new HashMap<>();
    Map<Cell, Boolean> persons = new HashMap<>();
    forEach(
        (millis, event) -> {
          if (event instanceof AuctionEvent.Auction auction) {
            auctions.merge(new Cell(end(millis), auction.seller()), 1L, Long::sum);
          } else if (event instanceof AuctionEvent.Person person) {
            persons.put(new Cell(end(millis), person.id()), true);
          }
        });
    auctions.forEach(
        (cell, count) -> {
          if (persons.containsKey(cell)) {
            expected.add(cell.key(), cell.end(), count);
          }
        });
  }
}
