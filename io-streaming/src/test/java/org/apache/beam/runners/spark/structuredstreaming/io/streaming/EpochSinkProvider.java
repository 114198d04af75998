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

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SQLContext;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.datasources.v2.MicroBatchScanExec;
import org.apache.spark.sql.execution.streaming.Sink;
import org.apache.spark.sql.sources.StreamSinkProvider;
import org.apache.spark.sql.streaming.OutputMode;
import scala.collection.JavaConverters;
import scala.collection.Seq;

/**
 * Takes the live rows out of the scans, as the engine does, completes every reading, and keeps what
 * each epoch gave; an epoch that is run again replaces what it gave before.
 */
public final class EpochSinkProvider implements StreamSinkProvider {
  /** What a query's sink did and is to do; in this JVM, by the name given as option "run". */
  static final class Script {
    final Map<Long, List<String>> epochs = new ConcurrentSkipListMap<>();
    final AtomicInteger failedTasks = new AtomicInteger();

    /** The sink fails when all tasks of this epoch have succeeded. */
    volatile long failAfterTasksOfEpoch = -1;

    /** The first attempt of a task fails when it has taken this many rows. */
    volatile int failFirstAttemptAtRow = -1;

    List<String> elements() {
      return epochs.values().stream().flatMap(List::stream).toList();
    }
  }

  private static final Map<String, Script> SCRIPTS = new ConcurrentHashMap<>();

  static Script script(String run) {
    return SCRIPTS.computeIfAbsent(run, key -> new Script());
  }

  @Override
  public Sink createSink(
      SQLContext session,
      scala.collection.immutable.Map<String, String> parameters,
      Seq<String> partitionColumns,
      OutputMode outputMode) {
    String run = parameters.getOrElse("run", () -> "");
    return new EpochSink(run);
  }

  private static final class EpochSink implements Sink {
    private final String run;

    EpochSink(String run) {
      this.run = run;
    }

    @Override
    public void addBatch(long epoch, Dataset<Row> data) {
      List<String> elements = new ArrayList<>();
      for (SparkPlan leaf :
          JavaConverters.seqAsJavaList(data.queryExecution().executedPlan().collectLeaves())) {
        MicroBatchScanExec scan = (MicroBatchScanExec) leaf;
        String name = run;
        elements.addAll(
            JavaRDD.fromRDD(scan.execute(), scala.reflect.ClassTag$.MODULE$.apply(InternalRow.class))
                .mapPartitions(rows -> consume(name, epoch, rows).iterator())
                .collect());
      }
      if (script(run).failAfterTasksOfEpoch == epoch) {
        throw new IllegalStateException("the sink fails after the tasks of epoch " + epoch);
      }
      script(run).epochs.put(epoch, elements);
    }

    private static List<String> consume(String run, long epoch, Iterator<InternalRow> rows)
        throws Exception {
      List<String> elements = new ArrayList<>();
      while (rows.hasNext()) {
        elements.add((String) ((BeamRow) rows.next()).value().getValue());
        if (elements.size() == script(run).failFirstAttemptAtRow
            && TaskContext.get().attemptNumber() == 0) {
          script(run).failedTasks.incrementAndGet();
          throw new IllegalStateException("the first attempt fails");
        }
      }
      SplitReading reading = SplitReading.current();
      if (reading.epoch() != epoch) {
        throw new IllegalStateException(
            "The reading is of epoch " + reading.epoch() + " in epoch " + epoch);
      }
      reading.complete();
      return elements;
    }
  }
}
