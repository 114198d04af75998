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
package org.apache.beam.runners.spark.structuredstreaming.engine.state;

import java.io.IOException;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteOutput;
import org.apache.beam.sdk.coders.Coder;

/**
 * Where the rows of one state cell are, and its coding. {@code (step, STATE, key, namespace) ->
 * (state id)} is the cell's one row, or the head of its collection.
 */
final class CellAddress {
  private static final byte[] NO_SUB_KEY = new byte[0];

  private final StepRows rows;
  private final byte[] key;
  private final String namespace;
  private final String stateId;
  private final byte[] headPrefix;
  private final byte[] headSuffix;
  private final CellMemory memory;
  private long heldBytes;

  /**
   * The address of one cell.
   *
   * @param stateId unique among system and user cells
   * @param headPrefix {@link #headPrefix(StepRows, byte[], String)} of the same key and namespace
   * @param memory shared by the cells of a step
   */
  CellAddress(
      StepRows rows,
      byte[] key,
      String namespace,
      String stateId,
      byte[] headPrefix,
      CellMemory memory) {
    this.rows = rows;
    this.key = key;
    this.namespace = namespace;
    this.stateId = stateId;
    this.headPrefix = headPrefix;
    this.headSuffix = new ByteOutput().writeSized(stateId).toByteArray();
    this.memory = memory;
  }

  static byte[] headPrefix(StepRows rows, byte[] key, String namespace) {
    return rows.prefix(RowKeys.STATE).writeSized(key).writeSized(namespace).toByteArray();
  }

  StepRows rows() {
    return rows;
  }

  /** Counts {@code bytes} as what the cell holds in memory from now on. */
  void hold(long bytes) {
    memory.change(bytes - heldBytes);
    heldBytes = bytes;
  }

  /** The cell's one list. */
  RowList list() {
    return new RowList(rows, headPrefix, headSuffix, chunkPrefix(NO_SUB_KEY), memory);
  }

  /** One of the cell's lists by sub-key, with its head among the cell's items. */
  RowList list(byte[] itemPrefix, byte[] subKey) {
    return new RowList(rows, itemPrefix, subKey, chunkPrefix(subKey), memory);
  }

  byte[] itemPrefix() {
    return collectionPrefix(RowKeys.ITEM).toByteArray();
  }

  /** The prefix of a list's chunks; {@code subKey} is empty where the cell is the list. */
  private byte[] chunkPrefix(byte[] subKey) {
    return collectionPrefix(RowKeys.CHUNK).writeBytes(subKey).toByteArray();
  }

  private ByteOutput collectionPrefix(byte kind) {
    return rows.prefix(kind).writeSized(key).writeSized(namespace).writeSized(stateId);
  }

  byte[] head() {
    return rows.get(headPrefix, headSuffix);
  }

  /** Writes the cell's row, or removes it if {@code value} is null. */
  void setHead(byte[] value) {
    if (value == null) {
      rows.remove(headPrefix, headSuffix);
    } else {
      rows.put(headPrefix, headSuffix, value);
    }
  }

  <T> byte[] encode(Coder<T> coder, T value) {
    ByteOutput scratch = encodeToScratch(coder, value);
    byte[] bytes = scratch.toByteArray();
    scratch.reset();
    return bytes;
  }

  /** The value's bytes, valid until the next call of this or {@link #encode} in the step. */
  <T> ByteOutput encodeToScratch(Coder<T> coder, T value) {
    ByteOutput scratch = memory.scratch().reset();
    try {
      coder.encode(value, scratch);
      return scratch;
    } catch (IOException | RuntimeException e) {
      throw new IllegalStateException(
          this + ": " + coder + " cannot encode a value of " + className(value), e);
    }
  }

  <T> T decode(Coder<T> coder, byte[] bytes) {
    return decode(coder, new ByteInput(bytes));
  }

  <T> T decode(Coder<T> coder, ByteInput reader) {
    int length = reader.available();
    try {
      T value = coder.decode(reader);
      if (reader.available() > 0) {
        throw new IllegalStateException(reader.available() + " bytes are left after decoding");
      }
      return value;
    } catch (IOException | RuntimeException e) {
      throw new IllegalStateException(
          this + ": " + coder + " cannot decode what is stored (" + length + " bytes)."
              + " Was the cell written with another coder?",
          e);
    }
  }

  private static String className(Object value) {
    return value == null ? "null" : value.getClass().getName();
  }

  @Override
  public String toString() {
    return rows.stepName() + ", state " + stateId.substring(1) + " in " + namespace;
  }
}
