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
package org.apache.beam.runners.spark.structuredstreaming.testing;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.streaming.StreamingQueryListener;
import org.joda.time.Instant;

/** Collects Spark's progress of every epoch of every query, between its creation and its close. */
public final class EpochLog extends StreamingQueryListener implements AutoCloseable {
  private static final long DRAIN_MILLIS = 30_000;

  private final SparkSession session;
  private final List<JsonNode> progress = new CopyOnWriteArrayList<>();
  private final AtomicInteger queryStarts = new AtomicInteger();
  private final ObjectMapper json = new ObjectMapper();

  private EpochLog(SparkSession session) {
    this.session = session;
  }

  /** Begins to collect. */
  public static EpochLog of(TestSpark spark) {
    EpochLog log = new EpochLog(spark.session());
    spark.session().streams().addListener(log);
    return log;
  }

  /** The progress of the epochs that were committed, in the order they ran in. */
  public List<JsonNode> epochs() {
    drain();
    return List.copyOf(progress);
  }

  /** How often a query was started, restarts after a failure included. */
  public int queryStarts() {
    drain();
    return queryStarts.get();
  }

  private void drain() {
    try {
      session.sparkContext().listenerBus().waitUntilEmpty(DRAIN_MILLIS);
    } catch (TimeoutException e) {
      throw new IllegalStateException("Spark does not come to tell its listeners", e);
    }
  }

  /**
   * A watermark of a keyed step, in milliseconds, at the end of every epoch.
   *
   * @param step part of the step's full name
   * @param watermark {@code inputWatermark} or {@code outputWatermark}
   */
  public List<Long> watermarks(String step, String watermark) {
    List<Long> found = new ArrayList<>();
    for (JsonNode epoch : epochs()) {
      JsonNode metrics = epoch.path("sink").path("metrics");
      for (Iterator<String> names = metrics.fieldNames(); names.hasNext(); ) {
        String name = names.next();
        if (name.contains(step) && name.endsWith("/" + watermark)) {
          found.add(Instant.parse(metrics.get(name).asText()).getMillis());
        }
      }
    }
    return found;
  }

  @Override
  public void onQueryStarted(QueryStartedEvent event) {
    queryStarts.incrementAndGet();
  }

  @Override
  public void onQueryProgress(QueryProgressEvent event) {
    try {
      progress.add(json.readTree(event.progress().json()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void onQueryTerminated(QueryTerminatedEvent event) {}

  @Override
  public void close() {
    session.streams().removeListener(this);
  }
}
