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

import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.spark.SparkConf;
import org.apache.spark.TaskContext;
import org.apache.spark.shuffle.ShuffleHandle;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.shuffle.sort.SortShuffleManager;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;

/**
 * Spark's own shuffle, which passes the points {@code shuffle epoch=<e> begin}, before anything is
 * fetched, and {@code shuffle epoch=<e> reading}, behind the first block.
 */
public final class FaultShuffleManager extends SortShuffleManager {
  /** Called by Spark, by reflection. */
  public FaultShuffleManager(SparkConf conf) {
    super(conf);
  }

  @Override
  public <K, C> ShuffleReader<K, C> getReader(
      ShuffleHandle handle,
      int startMapIndex,
      int endMapIndex,
      int startPartition,
      int endPartition,
      TaskContext context,
      ShuffleReadMetricsReporter metrics) {
    ShuffleReader<K, C> reader =
        super.getReader(
            handle, startMapIndex, endMapIndex, startPartition, endPartition, context, metrics);
    String point = "shuffle epoch=" + context.getLocalProperty(FaultPoints.EPOCH_PROPERTY) + " ";
    return () -> {
      pass(point + "begin");
      return new PassingIterator<>(point + "reading", reader.read());
    };
  }

  private static void pass(String point) {
    try {
      FaultPoints.pass(point);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static final class PassingIterator<T> extends AbstractIterator<T> {
    private final String point;
    private final Iterator<T> blocks;
    private boolean passed;

    PassingIterator(String point, Iterator<T> blocks) {
      this.point = point;
      this.blocks = blocks;
    }

    @Override
    public boolean hasNext() {
      return blocks.hasNext();
    }

    @Override
    public T next() {
      T block = blocks.next();
      if (!passed) {
        passed = true;
        pass(point);
      }
      return block;
    }
  }
}
