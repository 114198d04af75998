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

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import org.apache.beam.sdk.coders.AtomicCoder;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.coders.VarLongCoder;

/** What happens at an auction house. */
sealed interface AuctionEvent {
  /** Somebody registers. */
  record Person(long id, String name, String state) implements AuctionEvent {}

  /** A person opens an auction, which bids below the reserve cannot win, and that ends at some time. */
  record Auction(long id, long seller, long category, long reserve, long expires, String item)
      implements AuctionEvent {}

  /** A person bids for what is sold in an auction. */
  record Bid(long auction, long bidder, long price) implements AuctionEvent {}

  /** A number for the kind, and the fields. */
  final class EventCoder extends AtomicCoder<AuctionEvent> {
    private static final StringUtf8Coder TEXT = StringUtf8Coder.of();
    private static final VarLongCoder NUMBER = VarLongCoder.of();

    @Override
    public void encode(AuctionEvent event, OutputStream out) throws IOException {
      if (event instanceof Person person) {
        numbers(out, 0, person.id());
        TEXT.encode(person.name(), out);
        TEXT.encode(person.state(), out);
      } else if (event instanceof Auction auction) {
        numbers(out, 1, auction.id(), auction.seller(), auction.category());
        numbers(out, auction.reserve(), auction.expires());
        TEXT.encode(auction.item(), out);
      } else if (event instanceof Bid bid) {
        numbers(out, 2, bid.auction(), bid.bidder(), bid.price());
      }
    }

    private static void numbers(OutputStream out, long... numbers) throws IOException {
      for (long number : numbers) {
        NUMBER.encode(number, out);
      }
    }

    @Override
    public AuctionEvent decode(InputStream in) throws IOException {
      long kind = NUMBER.decode(in);
      if (kind == 0) {
        return new Person(NUMBER.decode(in), TEXT.decode(in), TEXT.decode(in));
      }
      if (kind == 1) {
        return new Auction(
            NUMBER.decode(in),
            NUMBER.decode(in),
            NUMBER.decode(in),
            NUMBER.decode(in),
            NUMBER.decode(in),
            TEXT.decode(in));
      }
      return new Bid(NUMBER.decode(in), NUMBER.decode(in), NUMBER.decode(in));
    }
  }
}
