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
import java.io.UncheckedIOException;
import org.apache.spark.TaskContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.util.TaskFailureListener;

/** Makes partition readers on executors. It travels with every stage, so it holds little. */
final class BeamPartitionReaderFactory implements PartitionReaderFactory {
  private final String descriptionId;
  private final Broadcast<byte[]> description;

  /**
   * @param descriptionId unique to the description in every JVM
   * @param description the serialized {@link SourceDescription}
   */
  BeamPartitionReaderFactory(String descriptionId, Broadcast<byte[]> description) {
    this.descriptionId = descriptionId;
    this.description = description;
  }

  @Override
  public PartitionReader<InternalRow> createReader(InputPartition partition) {
    SourceDescription source = SourceDescription.load(descriptionId, description::value);
    TaskContext task = TaskContext.get();
    try {
      SplitReading reading =
          new SplitReading(source, (BeamInputPartition) partition, task.taskAttemptId());
      TaskFailureListener listener = (context, failure) -> reading.taskFailed(failure);
      task.addTaskFailureListener(listener);
      return new BeamPartitionReader(reading);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
