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
package org.apache.beam.runners.spark.structuredstreaming.engine.batch;

import java.io.IOException;
import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.ElementReceiver;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.StepFailedException;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.StepStatistics;
import org.apache.beam.runners.spark.structuredstreaming.engine.task.EngineRuntime;
import org.apache.beam.runners.spark.structuredstreaming.engine.task.LevelTask;
import org.apache.beam.runners.spark.structuredstreaming.engine.task.ReportAccumulator;
import org.apache.beam.runners.spark.structuredstreaming.engine.task.SourceReport;
import org.apache.beam.runners.spark.structuredstreaming.engine.task.TaskAddress;
import org.apache.beam.runners.spark.structuredstreaming.translation.ReadStep;
import org.apache.beam.sdk.io.UnboundedSource;
import org.apache.beam.sdk.io.UnboundedSource.UnboundedReader;
import org.apache.beam.sdk.metrics.MetricsContainer;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.values.WindowedValues;
import org.apache.spark.TaskContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A task of a batch pipeline that reads a source: one split to its end, that is until its watermark is at
 * the end of time, and runs what is fused behind the source.
 */
final class ReadTask extends LevelTask {
  private static final Logger LOG = LoggerFactory.getLogger(ReadTask.class);
  private static final int ELEMENTS_PER_PIECE = 64;

  private final ReadPartition partition;
  private final ReadStep source;
  private final ViewBlocks views;
  private UnboundedReader<Object> reader;
  private ElementReceiver receiver;
  private long elements;

  ReadTask(
      TaskAddress address,
      EngineRuntime runtime,
      TaskContext context,
      ReportAccumulator reports,
      ReadPartition partition,
      ViewBlocks views) {
    super(address, runtime, context, reports);
    this.partition = partition;
    this.views = views;
    this.source = runtime.plan().sources().get(partition.sourceIndex());
  }

  @Override
  protected boolean work() throws IOException {
    MetricsContainer outer =
        graph().metrics().activate(graph().metrics().container(source.fullName()));
    try {
      return read();
    } catch (IOException | RuntimeException | LinkageError | StackOverflowError e) {
      throw StepFailedException.of(source.fullName(), "reading " + source.source(), e);
    } finally {
      graph().metrics().activate(outer);
    }
  }

  private boolean read() throws IOException {
    for (int i = 0; i < ELEMENTS_PER_PIECE; i++) {
      if (!moveOn()) {
        if (reader.getWatermark().isBefore(BoundedWindow.TIMESTAMP_MAX_VALUE)) {
          continue;
        }
        finish();
        return false;
      }
      elements++;
      receiver.accept(
          WindowedValues.timestampedValueInGlobalWindow(
              reader.getCurrent(), reader.getCurrentTimestamp()));
    }
    return true;
  }

  private boolean moveOn() throws IOException {
    if (reader != null) {
      return reader.advance();
    }
    new TaskViews(runtime(), runtime().plan().levels().get(address().level()), views).bind(graph());
    receiver = graph().receiver(source.output());
    @SuppressWarnings("unchecked") // elements are untyped between steps
    UnboundedSource<Object, ?> split = (UnboundedSource<Object, ?>) partition.decode(source);
    reader = split.createReader(runtime().options(), null);
    return reader.start();
  }

  private void finish() throws IOException {
    UnboundedReader<Object> ended = reader;
    reader = null;
    ended.close();
    graph().finishBundles();
    graph().setWatermark(source.output(), BoundedWindow.TIMESTAMP_MAX_VALUE.getMillis());
    graph().finishEpoch();
    graph().metrics().countElements(source.fullName(), source.output(), elements);
  }

  @Override
  protected void release(boolean succeeded) {
    if (reader != null) {
      try {
        reader.close();
      } catch (IOException | RuntimeException e) {
        LOG.warn("{}: closing the reader of a task that failed has failed", source.fullName(), e);
      }
    }
  }

  @Override
  protected SourceReport sourceReport() {
    return null;
  }

  @Override
  protected List<StepStatistics> stepStatistics() {
    return List.of();
  }
}
