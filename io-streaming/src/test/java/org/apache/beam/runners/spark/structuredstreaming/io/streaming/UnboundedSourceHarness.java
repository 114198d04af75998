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
package org.apache.beam.runners.spark.structuredstreaming.io.streaming;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.greaterThanOrEqualTo;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.beam.sdk.io.UnboundedSource;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;

/**
 * Reads any source that comes to the end of time through the real partition reader, reader cache and
 * durable marks, again and again under other circumstances, and demands that every split gives the
 * same elements in the same order each time and that no watermark goes back.
 */
public final class UnboundedSourceHarness {
  /** What happens to the reader between two epochs. */
  private enum Between {
    KEPT,
    RESTORED
  }

  private static final ReadLimits FULL = new ReadLimits(0, 0);
  private static final int MOST_EPOCHS = 10_000;

  private final UnboundedSource<?, ?> source;
  private final Path directory;
  private int runs;

  /**
   * @param source a source whose every split comes to the end of time
   * @param directory an empty directory for checkpoints
   */
  public UnboundedSourceHarness(UnboundedSource<?, ?> source, Path directory) {
    this.source = source;
    this.directory = directory;
  }

  /** Reads the source in all ways, and returns what each split gave in all of them. */
  public List<List<String>> read() throws Exception {
    List<List<String>> plain = readOnce(FULL, Between.KEPT);
    int splits = plain.size();
    String[] ways = {"one record each", "cramped to fewer records than splits", "five at a time"};
    long[] limits = {splits, Math.max(1, splits - 1), 5};
    for (Between between : Between.values()) {
      assertThat(
          "full epochs, reader " + between, readOnce(FULL, between), equalTo(plain));
      for (int way = 0; way < ways.length; way++) {
        assertThat(
            ways[way] + ", reader " + between,
            readOnce(new ReadLimits(limits[way], 0), between),
            equalTo(plain));
      }
    }
    return plain;
  }

  private List<List<String>> readOnce(ReadLimits limits, Between between) throws Exception {
    Path checkpointDir = Files.createDirectories(directory.resolve("run-" + runs++));
    SourceDriver driver = SourceDriver.start(checkpointDir, source, limits);
    List<List<String>> elements = new ArrayList<>();
    List<Long> watermarks = new ArrayList<>();
    for (int split = 0; split < driver.splitCount(); split++) {
      elements.add(new ArrayList<>());
      watermarks.add(BoundedWindow.TIMESTAMP_MIN_VALUE.getMillis());
    }
    try {
      for (long epoch = 0; !isFinished(watermarks); epoch++) {
        assertThat("epochs left", (long) MOST_EPOCHS, greaterThanOrEqualTo(epoch));
        List<SourceDriver.Outcome> outcomes = driver.readEpoch(epoch);
        for (int split = 0; split < outcomes.size(); split++) {
          SourceDriver.Outcome outcome = outcomes.get(split);
          elements.get(split).addAll(outcome.elements());
          assertThat(
              "watermark of split " + split + " in epoch " + epoch,
              outcome.watermarkMillis(),
              greaterThanOrEqualTo(watermarks.get(split)));
          watermarks.set(split, outcome.watermarkMillis());
        }
        if (between == Between.RESTORED) {
          BeamReaderCache.invalidateAll();
        }
      }
    } finally {
      BeamReaderCache.invalidateAll();
    }
    return elements;
  }

  private static boolean isFinished(List<Long> watermarks) {
    return watermarks.stream()
        .allMatch(millis -> millis == BoundedWindow.TIMESTAMP_MAX_VALUE.getMillis());
  }
}
