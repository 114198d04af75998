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

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.is;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.beam.sdk.io.BoundedSource;
import org.apache.beam.sdk.io.Source;
import org.apache.beam.sdk.io.UnboundedSource;
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.options.PipelineOptionsFactory;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.util.CoderUtils;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.TimestampedValue;
import org.junit.jupiter.api.Test;

/** Both sources give every record of a generator once, however they are split, and go on from a mark. */
class UnboundedRecordsTest {
  private static final long RECORDS = 1001;

  private final PipelineOptions options = PipelineOptionsFactory.create();
  private final KeyedRecords generator = new KeyedRecords(10);

  @Test
  void splitsHaveAllRecordsOnceAlsoFromMarks() throws IOException {
    List<TimestampedValue<KV<Long, Long>>> read = new ArrayList<>();
    for (UnboundedRecords<KV<Long, Long>> split :
        new UnboundedRecords<>(generator, RECORDS).split(7, options)) {
      UnboundedSource.UnboundedReader<KV<Long, Long>> reader = split.createReader(options, null);
      for (boolean more = reader.start(); more; ) {
        read.add(TimestampedValue.of(reader.getCurrent(), reader.getCurrentTimestamp()));
        assertThat(reader.getWatermark(), is(reader.getCurrentTimestamp()));
        if (read.size() % 100 == 0) {
          byte[] mark =
              CoderUtils.encodeToByteArray(
                  split.getCheckpointMarkCoder(),
                  (UnboundedRecords.Mark) reader.getCheckpointMark());
          reader =
              split.createReader(
                  options, CoderUtils.decodeFromByteArray(split.getCheckpointMarkCoder(), mark));
          more = reader.start();
        } else {
          more = reader.advance();
        }
      }
      assertThat(reader.getWatermark(), is(BoundedWindow.TIMESTAMP_MAX_VALUE));
    }
    assertThat(sorted(read), is(sorted(all())));
  }

  @Test
  void bundlesHaveAllRecordsOnce() throws Exception {
    List<TimestampedValue<KV<Long, Long>>> read = new ArrayList<>();
    for (BoundedSource<KV<Long, Long>> bundle :
        new BoundedRecords<>(generator, 0, RECORDS).split(1000, options)) {
      try (Source.Reader<KV<Long, Long>> reader = bundle.createReader(options)) {
        for (boolean more = reader.start(); more; more = reader.advance()) {
          read.add(TimestampedValue.of(reader.getCurrent(), reader.getCurrentTimestamp()));
        }
      }
    }
    assertThat(sorted(read), is(sorted(all())));
  }

  private List<TimestampedValue<KV<Long, Long>>> all() {
    List<TimestampedValue<KV<Long, Long>>> all = new ArrayList<>();
    for (long number = 0; number < RECORDS; number++) {
      all.add(TimestampedValue.of(generator.record(number), generator.timestamp(number)));
    }
    return all;
  }

  private static List<TimestampedValue<KV<Long, Long>>> sorted(
      List<TimestampedValue<KV<Long, Long>>> records) {
    return records.stream()
        .sorted(
            Comparator.comparing((TimestampedValue<KV<Long, Long>> record) -> record.getTimestamp())
                .thenComparing(record -> record.getValue().getKey())
                .thenComparing(record -> record.getValue().getValue()))
        .toList();
  }
}
