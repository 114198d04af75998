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

import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteOutput;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.MaterializedViews.Materialized;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.MaterializedViews.PaneId;

/** A window of a view: which pane it has, if any, and what is being received for it. */
final class ViewWindow {
  private final byte[] encoded;
  private final long endMillis;
  private Pane pane;
  private Materialized materialized;

  /**
   * A pane whose elements are in rows.
   *
   * @param chunks number of rows
   * @param bytes of all their elements, encoded
   */
  record Pane(long index, PaneId id, long chunks, long bytes) {
    byte[] encode() {
      return new ByteOutput()
          .writeVarLong(index)
          .writeLong(id.high())
          .writeLong(id.low())
          .writeVarLong(chunks)
          .writeVarLong(bytes)
          .toByteArray();
    }

    static Pane decode(byte[] row) {
      ByteInput reader = new ByteInput(row);
      long index = reader.readVarLong();
      PaneId id = new PaneId(reader.readLong(), reader.readLong());
      return new Pane(index, id, reader.readVarLong(), reader.readVarLong());
    }

    Pane withChunk(int length) {
      return new Pane(index, id, chunks + 1, bytes + length);
    }
  }

  /**
   * @param pane null if the window has none yet
   */
  ViewWindow(byte[] encoded, long endMillis, Pane pane) {
    this.encoded = encoded;
    this.endMillis = endMillis;
    this.pane = pane;
  }

  byte[] encoded() {
    return encoded;
  }

  long endMillis() {
    return endMillis;
  }

  /** Null if there is none. */
  Pane pane() {
    return pane;
  }

  void setPane(Pane newPane) {
    pane = newPane;
    materialized = null;
  }

  /** What the pane was made into in this epoch, null if nothing yet. */
  Materialized materialized() {
    return materialized;
  }

  void setMaterialized(Materialized made) {
    materialized = made;
  }
}
