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

import java.io.IOException;
import org.apache.beam.sdk.values.WindowedValue;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.PartitionReader;

/**
 * Spark's view of a {@link SplitReading}: the elements as rows. One row object is reused. Used by
 * the task's thread only; Spark closes it when the task ends, however it ends.
 */
final class BeamPartitionReader implements PartitionReader<InternalRow> {
  private final SplitReading reading;
  private final BeamRow row = new BeamRow();

  BeamPartitionReader(SplitReading reading) {
    this.reading = reading;
  }

  @Override
  public boolean next() throws IOException {
    WindowedValue<Object> element = reading.next();
    row.set(element);
    return element != null;
  }

  @Override
  public BeamRow get() {
    return row;
  }

  @Override
  public void close() {
    reading.close();
  }
}
