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
package org.apache.beam.runners.spark.structuredstreaming.engine.task;

import java.io.IOException;
import java.util.List;
import org.apache.beam.runners.core.metrics.MetricsContainerImpl;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.ElementReceiver;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.StepStatistics;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.BeamRow;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.SplitReading;
import org.apache.beam.runners.spark.structuredstreaming.translation.PlanCollection;
import org.apache.beam.runners.spark.structuredstreaming.translation.ReadStep;
import org.apache.beam.sdk.metrics.MetricsContainer;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.catalyst.InternalRow;
import scala.collection.Iterator;

/**
 * A task of level 0: reads one split of one source and runs what is fused behind it.
 *
 * <p>Order at the end: bundles finish, then the durable mark of the end epoch is written, then the
 * watermark is sent. A mark that exists therefore stands for elements that were processed, and a
 * watermark is never ahead of its mark.
 */
final class SourceTask extends LevelTask {
  private static final int ROWS_PER_PIECE = 64;

  private final Iterator<InternalRow> rows;
  private SplitReading reading;
  private PlanCollection collection;
  private ElementReceiver receiver;
  private SourceReport report;
  private long startNanos;
  private long readNanos;

  /** What the source's reader counts in. Nameless until the first row tells which source it is. */
  private MetricsContainerImpl metrics = new MetricsContainerImpl(null);

  SourceTask(
      TaskAddress address,
      EngineRuntime runtime,
      TaskContext context,
      ReportAccumulator reports,
      Iterator<InternalRow> rows) {
    super(address, runtime, context, reports);
    this.rows = rows;
  }

  @Override
  protected boolean work() throws IOException {
    MetricsContainer outer = graph().metrics().activate(metrics);
    try {
      return read();
    } finally {
      graph().metrics().activate(outer);
    }
  }

  private boolean read() throws IOException {
    if (startNanos == 0) {
      startNanos = System.nanoTime();
    }
    for (int i = 0; i < ROWS_PER_PIECE; i++) {
      if (!rows.hasNext()) {
        readNanos = System.nanoTime() - startNanos;
        finish();
        return false;
      }
      InternalRow row = rows.next();
      if (receiver == null) {
        bind();
      }
      receiver.accept(((BeamRow) row).value());
    }
    return true;
  }

  @Override
  protected void release(boolean succeeded) {
    // The reader belongs to its cache, which hears of the task's end by Spark closing the split.
  }

  @Override
  protected SourceReport sourceReport() {
    return report;
  }

  @Override
  protected List<StepStatistics> stepStatistics() {
    return List.of();
  }

  private void bind() {
    reading = SplitReading.current();
    ReadStep source = runtime().plan().sources().get(reading.sourceIndex());
    collection = source.output();
    receiver = graph().receiver(collection);
    MetricsContainerImpl named = graph().metrics().container(source.fullName());
    named.update(metrics);
    metrics = named;
    graph().metrics().activate(named);
  }

  private void finish() throws IOException {
    if (reading == null) {
      bind();
    }
    graph().finishBundles();
    awaitCommitPermit();
    reading.complete();
    graph().setWatermark(collection, reading.watermarkMillis());
    graph().finishEpoch();
    graph()
        .metrics()
        .countElements(
            runtime().plan().sources().get(reading.sourceIndex()).fullName(),
            collection,
            reading.rows());
    report =
        new SourceReport(
            reading.sourceIndex(),
            reading.splitId(),
            reading.watermarkMillis(),
            reading.rows(),
            reading.minEventTimeMillis(),
            reading.maxEventTimeMillis(),
            reading.averageEventTimeMillis(),
            readNanos,
            reading.backlogBytes());
  }
}
