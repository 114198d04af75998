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
import java.util.function.ToLongFunction;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.transforms.Combine;
import org.apache.beam.sdk.transforms.Count;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.Filter;
import org.apache.beam.sdk.transforms.MapElements;
import org.apache.beam.sdk.transforms.Max;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.SerializableFunction;
import org.apache.beam.sdk.transforms.View;
import org.apache.beam.sdk.transforms.join.CoGbkResult;
import org.apache.beam.sdk.transforms.join.CoGroupByKey;
import org.apache.beam.sdk.transforms.join.KeyedPCollectionTuple;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.SlidingWindows;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PCollectionView;
import org.apache.beam.sdk.values.TupleTag;
import org.apache.beam.sdk.values.TypeDescriptor;
import org.apache.beam.sdk.values.TypeDescriptors;
import org.joda.time.Duration;

/** Queries 0 to 8 on the events of an auction house, after the description of the Nexmark benchmark. */
record AuctionQueries(int query) implements Workload {
  static final long WINDOW_MILLIS = 10_000;
  static final long PERIOD_MILLIS = 5000;
  static final long SKIP = 123;
  private static final TupleTag<Long> PERSONS = new TupleTag<>("persons");
  private static final TupleTag<Long> AUCTIONS = new TupleTag<>("auctions");

  @Override
  public void build(Pipeline pipeline, long records) {
    pipeline
        .getCoderRegistry()
        .registerCoderForClass(AuctionEvent.class, new AuctionEvent.EventCoder());
    PCollection<AuctionEvent> events =
        pipeline.apply("Read", Input.STREAM.read(new AuctionEvents(), records));
    results(events).apply("Results", ParDo.of(new Results.Sink()));
  }

  @Override
  public Totals expected(long records) {
    return new AuctionAnswers(records).answer(query);
  }

  private PCollection<KV<Long, Long>> results(PCollection<AuctionEvent> events) {
    return switch (query) {
      case 0 -> events.apply("PassThrough", numbers(AuctionQueries::passThrough));
      case 1 -> bids(events).apply("ToEuro", numbers(bid -> KV.of(bid.getKey(), euro(bid.getValue()))));
      case 2 -> bids(events).apply("Some", Filter.by(bid -> bid.getKey() % SKIP == 0));
      case 3 ->
          events
              .apply("OfSellers", Filter.by(LocalItems::concerns))
              .apply("BySeller", keyed(AuctionQueries::seller))
              .apply("LocalItems", ParDo.of(new LocalItems()));
      case 4 ->
          winningBids(events)
              .apply("ByCategory", numbers(won -> KV.of(auction(won).category(), won.getKey())))
              .apply("Average", Combine.perKey(new Average()));
      case 5 -> hotItems(events);
      case 6 ->
          winningBids(events)
              .apply("BySeller", MapElements.into(KEYED_NUMBERS).via(AuctionQueries::sale))
              .apply("LastTen", Combine.perKey(new LastTen()));
      case 7 -> highestBids(events);
      case 8 -> newSellers(events);
      default -> throw new IllegalArgumentException("There is no query " + query);
    };
  }

  private static final TypeDescriptor<KV<Long, KV<Long, Long>>> KEYED_NUMBERS =
      TypeDescriptors.kvs(
          TypeDescriptors.longs(),
          TypeDescriptors.kvs(TypeDescriptors.longs(), TypeDescriptors.longs()));

  static KV<Long, Long> passThrough(AuctionEvent event) {
    if (event instanceof AuctionEvent.Person person) {
      return KV.of(person.id(), (long) person.name().length());
    }
    if (event instanceof AuctionEvent.Auction auction) {
      return KV.of(auction.id(), auction.expires());
    }
    AuctionEvent.Bid bid = (AuctionEvent.Bid) event;
    return KV.of(bid.auction(), bid.price());
  }

  static long euro(long dollars) {
    return dollars * 89 / 100;
  }

  static long seller(AuctionEvent event) {
    return event instanceof AuctionEvent.Person person
        ? person.id()
        : ((AuctionEvent.Auction) event).seller();
  }

  private static long auctionOf(AuctionEvent event) {
    return event instanceof AuctionEvent.Auction auction
        ? auction.id()
        : ((AuctionEvent.Bid) event).auction();
  }

  private static AuctionEvent.Auction auction(KV<Long, AuctionEvent> won) {
    return (AuctionEvent.Auction) won.getValue();
  }

  private static KV<Long, KV<Long, Long>> sale(KV<Long, AuctionEvent> won) {
    return KV.of(auction(won).seller(), KV.of(auction(won).id(), won.getKey()));
  }

  /** Auction and price of every bid. */
  private static PCollection<KV<Long, Long>> bids(PCollection<AuctionEvent> events) {
    return events
        .apply("Bids", Filter.by(event -> event instanceof AuctionEvent.Bid))
        .apply("AuctionAndPrice", numbers(AuctionQueries::passThrough));
  }

  /** Prices and auctions that were won, in windows of the times at which these end. */
  private static PCollection<KV<Long, AuctionEvent>> winningBids(PCollection<AuctionEvent> events) {
    return events
        .apply("NoPersons", Filter.by(event -> !(event instanceof AuctionEvent.Person)))
        .apply("ByAuction", keyed(AuctionQueries::auctionOf))
        .apply("WinningBids", ParDo.of(new WinningBids()))
        .apply("Window", Window.into(FixedWindows.of(Duration.millis(WINDOW_MILLIS))));
  }

  /** The auction with most bids in each sliding window; of several the first. */
  private static PCollection<KV<Long, Long>> hotItems(PCollection<AuctionEvent> events) {
    return bids(events)
        .apply(
            "Window",
            Window.into(
                SlidingWindows.of(Duration.millis(WINDOW_MILLIS)).every(Duration.millis(PERIOD_MILLIS))))
        .apply("Count", Count.perKey())
        .apply(
            "Hottest",
            Combine.globally(
                    (SerializableFunction<Iterable<KV<Long, Long>>, KV<Long, Long>>) AuctionQueries::hottest)
                .withoutDefaults());
  }

  static KV<Long, Long> hottest(Iterable<KV<Long, Long>> counts) {
    KV<Long, Long> hottest = null;
    for (KV<Long, Long> count : counts) {
      if (hottest == null
          || count.getValue() > hottest.getValue()
          || (count.getValue().equals(hottest.getValue()) && count.getKey() < hottest.getKey())) {
        hottest = count;
      }
    }
    return hottest;
  }

  /** All bids with the highest price of their window, which is a side input. */
  private static PCollection<KV<Long, Long>> highestBids(PCollection<AuctionEvent> events) {
    PCollection<KV<Long, Long>> bids =
        bids(events).apply("Window", Window.into(FixedWindows.of(Duration.millis(WINDOW_MILLIS))));
    PCollectionView<Long> highest =
        bids.apply("Prices", MapElements.into(TypeDescriptors.longs()).via(KV::getValue))
            .apply("Highest", Max.longsGlobally().withoutDefaults())
            .apply("AsSingleton", View.asSingleton());
    return bids.apply("OfThatPrice", ParDo.of(new OfThatPrice(highest)).withSideInputs(highest));
  }

  /** Persons who have opened auctions in the window in which they have registered, and how many. */
  private static PCollection<KV<Long, Long>> newSellers(PCollection<AuctionEvent> events) {
    PCollection<AuctionEvent> windowed =
        events.apply("Window", Window.into(FixedWindows.of(Duration.millis(WINDOW_MILLIS))));
    PCollection<KV<Long, Long>> persons =
        windowed
            .apply("Persons", Filter.by(event -> event instanceof AuctionEvent.Person))
            .apply("ById", numbers(person -> KV.of(seller(person), 1L)));
    PCollection<KV<Long, Long>> auctions =
        windowed
            .apply("Auctions", Filter.by(event -> event instanceof AuctionEvent.Auction))
            .apply("BySeller", numbers(auction -> KV.of(seller(auction), 1L)));
    return KeyedPCollectionTuple.of(PERSONS, persons)
        .and(AUCTIONS, auctions)
        .apply("Join", CoGroupByKey.create())
        .apply("NewSellers", ParDo.of(new NewSellers()));
  }

  private static <T> MapElements<T, KV<Long, Long>> numbers(
      SerializableFunction<T, KV<Long, Long>> function) {
    return MapElements.into(
            TypeDescriptors.kvs(TypeDescriptors.longs(), TypeDescriptors.longs()))
        .via(function);
  }

  /** A function that goes to the workers. */
  private interface KeyOf extends ToLongFunction<AuctionEvent>, Serializable {}

  private static ParDo.SingleOutput<AuctionEvent, KV<Long, AuctionEvent>> keyed(KeyOf key) {
    return ParDo.of(new Keyed(key));
  }

  private static final class Keyed extends DoFn<AuctionEvent, KV<Long, AuctionEvent>> {
    private final KeyOf key;

    Keyed(KeyOf key) {
      this.key = key;
    }

    @ProcessElement
    public void process(
        @Element AuctionEvent event, OutputReceiver<KV<Long, AuctionEvent>> output) {
      output.output(KV.of(key.applyAsLong(event), event));
    }
  }

  private static final class OfThatPrice extends DoFn<KV<Long, Long>, KV<Long, Long>> {
    private final PCollectionView<Long> highest;

    OfThatPrice(PCollectionView<Long> highest) {
      this.highest = highest;
    }

    @ProcessElement
    public void process(ProcessContext context) {
      if (context.element().getValue().equals(context.sideInput(highest))) {
        context.output(context.element());
      }
    }
  }

  private static final class NewSellers extends DoFn<KV<Long, CoGbkResult>, KV<Long, Long>> {
    @ProcessElement
    public void process(
        @Element KV<Long, CoGbkResult> person, OutputReceiver<KV<Long, Long>> output) {
      long auctions = 0;
      for (long one : person.getValue().getAll(AUCTIONS)) {
        auctions += one;
      }
      if (auctions > 0 && person.getValue().getAll(PERSONS).iterator().hasNext()) {
        output.output(KV.of(person.getKey(), auctions));
      }
    }
  }
}
