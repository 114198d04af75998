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

import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.io.OffsetBasedSource;
import org.apache.beam.sdk.options.PipelineOptions;
import org.joda.time.Instant;

/**
 * The records of a generator, as a source that ends.
 *
 * @param <T> type of a record
 */
final class BoundedRecords<T> extends OffsetBasedSource<T> {
  /** About what a record takes in a file. */
  private static final long BYTES_PER_RECORD = 16;

  private final Generator<T> generator;

  BoundedRecords(Generator<T> generator, long from, long to) {
    super(from, to, 1);
    this.generator = generator;
  }

  @Override
  public long getMaxEndOffset(PipelineOptions options) {
    return getEndOffset();
  }

  @Override
  public long getBytesPerOffset() {
    return BYTES_PER_RECORD;
  }

  @Override
  public OffsetBasedSource<T> createSourceForSubrange(long from, long to) {
    return new BoundedRecords<>(generator, from, to);
  }

  @Override
  public BoundedReader<T> createReader(PipelineOptions options) {
    return new Reader(this);
  }

  @Override
  public Coder<T> getOutputCoder() {
    return generator.coder();
  }

  private final class Reader extends OffsetBasedReader<T> {
    private long number;
    private T current;

    Reader(BoundedRecords<T> source) {
      super(source);
      number = source.getStartOffset() - 1;
    }

    @Override
    protected boolean startImpl() {
      return advanceImpl();
    }

    @Override
    protected boolean advanceImpl() {
      number++;
      // Beyond the end of the range nothing is asked for: it ends before the offset that is returned.
      current = generator.record(number);
      return true;
    }

    @Override
    protected long getCurrentOffset() {
      return number;
    }

    @Override
    public T getCurrent() {
      return current;
    }

    @Override
    public Instant getCurrentTimestamp() {
      return generator.timestamp(number);
    }

    @Override
    public void close() {
      // Nothing is open.
    }
  }
}
