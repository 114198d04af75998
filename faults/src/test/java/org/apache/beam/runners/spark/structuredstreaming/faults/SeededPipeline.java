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
package org.apache.beam.runners.spark.structuredstreaming.faults;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.coders.KvCoder;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.coders.VarLongCoder;
import org.apache.beam.sdk.io.Read;
import org.apache.beam.sdk.transforms.Combine;
import org.apache.beam.sdk.transforms.GroupByKey;
import org.apache.beam.sdk.transforms.PTransform;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.View;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.Sessions;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PBegin;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PCollectionView;
import org.apache.beam.sdk.values.PDone;
import org.joda.time.Duration;

/**
 * The pipelines of the suite, and what must come out of each: a result {@code <pipeline>/<key>/<window>}
 * for every key and window, with a count and a sum.
 */
enum SeededPipeline {
  /** Accumulators of windows. */
  COUNTS {
    @Override
    PCollection<KV<String, KV<Long, Long>>> results(Pipeline pipeline, long seed) {
      return windowed(read(pipeline, seed)).apply("totals", Combine.perKey(new Totals()));
    }
  },

  /** Values in state, and timers by event time. */
  SUMS {
    @Override
    PCollection<KV<String, KV<Long, Long>>> results(Pipeline pipeline, long seed) {
      return windowed(read(pipeline, seed)).apply("totals", ParDo.of(new UserFns.StatefulTotalsFn()));
    }
  },

  /** Windows that merge. */
  SESSIONS {
    @Override
    PCollection<KV<String, KV<Long, Long>>> results(Pipeline pipeline, long seed) {
      return read(pipeline, seed)
          .apply("sessions", Window.into(Sessions.withGapDuration(GAP)))
          .apply("groups", GroupByKey.create())
          .apply("totals", ParDo.of(new UserFns.GroupTotalsFn()));
    }

    @Override
    Map<String, KV<Long, Long>> expected(long seed) {
      Map<String, KV<Long, Long>> totals = new TreeMap<>();
      records(this, seed).all().stream()
          .collect(Collectors.groupingBy(SeededRecords.Entry::key))
          .forEach((key, entries) -> addSessions(totals, key, entries));
      return totals;
    }
  },

  /** A view of a second source, for each window another. */
  SIDE_INPUTS {
    @Override
    PCollection<KV<String, KV<Long, Long>>> results(Pipeline pipeline, long seed) {
      PCollectionView<Map<String, KV<Long, Long>>> view =
          windowed(
                  "windows of side",
                  pipeline.apply(
                      "read side", Read.from(new LoggedSource(side(seed), PER_EPOCH))))
              .apply("totals of side", Combine.perKey(new Totals()))
              .apply("view", View.asMap());
      return windowed(read(pipeline, seed))
          .apply("look up", ParDo.of(new UserFns.LookUpFn(view)).withSideInputs(view))
          .apply("totals", Combine.perKey(new Totals()));
    }

    @Override
    Map<String, KV<Long, Long>> expected(long seed) {
      Map<String, KV<Long, Long>> side = new TreeMap<>();
      side(seed).all().forEach(entry -> add(side, windowOf(entry), entry.value()));
      Map<String, KV<Long, Long>> totals = new TreeMap<>();
      for (SeededRecords.Entry entry : records(this, seed).all()) {
        KV<Long, Long> found = side.get(windowOf(entry));
        add(totals, windowOf(entry), entry.value() + (found == null ? 0 : found.getValue()));
      }
      return totals;
    }
  },

  /** Restrictions whose rest waits for a later epoch. */
  SPLITTABLE {
    @Override
    PCollection<KV<String, KV<Long, Long>>> results(Pipeline pipeline, long seed) {
      return windowed(
              read(pipeline, seed)
                  .apply("parts", ParDo.of(new UserFns.PartsFn()))
                  .setCoder(KvCoder.of(StringUtf8Coder.of(), VarLongCoder.of())))
          .apply("totals", Combine.perKey(new Totals()));
    }

    @Override
    Map<String, KV<Long, Long>> expected(long seed) {
      Map<String, KV<Long, Long>> totals = new TreeMap<>();
      for (SeededRecords.Entry entry : records(this, seed).all()) {
        for (long part = 0; part < UserFns.PartsFn.parts(entry.value()); part++) {
          add(totals, windowOf(entry), entry.value() + part);
        }
      }
      return totals;
    }
  },

  /** Records that come twice, in one epoch or in two. */
  DEDUPLICATION {
    @Override
    PCollection<KV<String, KV<Long, Long>>> results(Pipeline pipeline, long seed) {
      return windowed(read(pipeline, seed)).apply("totals", Combine.perKey(new Totals()));
    }
  };

  private static final int PER_SPLIT = 42;
  private static final int PER_EPOCH = 4;
  private static final String SIDE = "side";
  private static final Duration WINDOW = Duration.standardSeconds(10);
  private static final Duration GAP = Duration.standardSeconds(4);

  abstract PCollection<KV<String, KV<Long, Long>>> results(Pipeline pipeline, long seed);

  /** Adds this pipeline to one that may have others. */
  void addTo(Pipeline pipeline, long seed) {
    String of = name();
    pipeline.apply(
        of,
        new PTransform<PBegin, PDone>() {
          @Override
          public PDone expand(PBegin begin) {
            return results(begin.getPipeline(), seed)
                .setCoder(KvCoder.of(StringUtf8Coder.of(), Totals.coder()))
                .apply("text", ParDo.of(new UserFns.TextFn(of)))
                .apply(new Ledger(of));
          }
        });
  }

  /** What must come out, by {@code <key>/<window>}. */
  Map<String, KV<Long, Long>> expected(long seed) {
    Map<String, KV<Long, Long>> totals = new TreeMap<>();
    records(this, seed).all().forEach(entry -> add(totals, windowOf(entry), entry.value()));
    return totals;
  }

  static SeededRecords records(SeededPipeline pipeline, long seed) {
    boolean repeated = pipeline == DEDUPLICATION;
    return new SeededRecords(pipeline.name(), seed, 2, repeated ? PER_SPLIT / 2 : PER_SPLIT, repeated);
  }

  private static SeededRecords side(long seed) {
    return new SeededRecords(SIDE, seed, 1, PER_SPLIT, false);
  }

  PCollection<KV<String, Long>> read(Pipeline pipeline, long seed) {
    return pipeline
        .apply("read", Read.from(new LoggedSource(records(this, seed), PER_EPOCH)))
        .apply("point", ParDo.of(new UserFns.PointFn(name())));
  }

  private static PCollection<KV<String, Long>> windowed(PCollection<KV<String, Long>> read) {
    return windowed("windows", read);
  }

  private static PCollection<KV<String, Long>> windowed(
      String name, PCollection<KV<String, Long>> read) {
    return read.apply(name, Window.into(FixedWindows.of(WINDOW)));
  }

  private static String windowOf(SeededRecords.Entry entry) {
    long size = WINDOW.getMillis();
    long start = entry.millis() / size * size;
    return entry.key() + "/" + start + "-" + (start + size);
  }

  private static void add(Map<String, KV<Long, Long>> totals, String id, long number) {
    totals.merge(id, KV.of(1L, number), (total, one) -> Totals.plus(total, one.getValue()));
  }

  private static void addSessions(
      Map<String, KV<Long, Long>> totals, String key, List<SeededRecords.Entry> entries) {
    List<SeededRecords.Entry> sorted = new ArrayList<>(entries);
    sorted.sort(Comparator.comparingLong(SeededRecords.Entry::millis));
    int first = 0;
    for (int i = 1; i <= sorted.size(); i++) {
      long end = sorted.get(i - 1).millis() + GAP.getMillis();
      if (i == sorted.size() || sorted.get(i).millis() >= end) {
        String id = key + "/" + sorted.get(first).millis() + "-" + end;
        sorted.subList(first, i).forEach(entry -> add(totals, id, entry.value()));
        first = i;
      }
    }
  }
}
