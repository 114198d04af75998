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
package org.apache.beam.runners.spark.structuredstreaming.engine.keyed;

import java.io.IOException;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.ViewSender;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.MaterializedViews.PaneId;
import org.apache.beam.runners.spark.structuredstreaming.engine.shuffle.RecordInput;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;

/**
 * What a record of {@link ViewSender} says of the elements that it ends with, which are then to be read or
 * skipped.
 *
 * @param isFirst whether they are the first of their pane
 * @param isLast whether they are the last
 * @param paneIndex the index of their pane, which has the id {@code pane}
 * @param count how many there are
 * @param length how many bytes they take
 */
public record ViewChunk(
    boolean isFirst,
    boolean isLast,
    BoundedWindow window,
    long paneIndex,
    PaneId pane,
    int count,
    int length) {

  /** Reads the record that {@code record} stands at, up to its elements. */
  public static ViewChunk read(RecordInput record, Coder<BoundedWindow> windowCoder)
      throws IOException {
    ByteInput bytes = record.bytes();
    int flags = bytes.readByte();
    return new ViewChunk(
        (flags & ViewSender.FIRST) != 0,
        (flags & ViewSender.LAST) != 0,
        record.readWindow(windowCoder).window(),
        bytes.readVarLong(),
        new PaneId(bytes.readLong(), bytes.readLong()),
        bytes.readVarInt(),
        bytes.readLength());
  }

  public byte[] elements(RecordInput record) throws IOException {
    return record.bytes().readBytes(length);
  }

  public void skipElements(RecordInput record) {
    record.bytes().seek(record.bytes().position() + length);
  }
}
