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

import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteOutput;

/**
 * How the prefixes of a step's rows begin: {@code (stable id: 8 bytes, kind: 1 byte)}. What follows
 * is the kind's own affair; variable parts in front of others are written as {@link
 * ByteOutput#part} so that no two different keys share their bytes.
 */
public final class RowKeys {
  /** Row and byte totals of the step. */
  static final byte TOTALS = 0;

  /** {@code (key, namespace) -> (state id)}: single-row cells, heads of collections. */
  static final byte STATE = 1;

  /** {@code (key, namespace, state id) -> (sub-key)}: rows of collection cells. */
  static final byte ITEM = 2;

  /** {@code (key, namespace, state id, sub-key) -> (sequence)}: chunks of lists. */
  static final byte CHUNK = 3;

  /** {@code (domain, bucket) -> (time, key, namespace, family, id)}. */
  static final byte TIMER = 4;

  /** {@code (domain, level, node) -> child}: which timer buckets live. */
  static final byte TIMER_BUCKETS = 5;

  /** {@code (key) -> (domain, namespace, family, id)}. */
  static final byte TIMER_ID = 6;

  /** {@code (bucket) -> time}. */
  static final byte HOLD = 7;

  /** {@code (level, node) -> child}: which hold buckets live. */
  static final byte HOLD_BUCKETS = 8;

  /** Kinds from here up to 127 are never used by this package: rows of the engine's own. */
  public static final byte FIRST_ENGINE_KIND = 32;

  private RowKeys() {}

  /** A new writer that holds the beginning of a prefix. */
  public static ByteOutput prefix(long stableId, byte kind) {
    return new ByteOutput().writeLong(stableId).writeByte(kind);
  }

  /** Whether {@code prefix} belongs to the step. */
  static boolean belongsTo(long stableId, byte[] prefix) {
    return prefix.length > Long.BYTES && new ByteInput(prefix).readLong() == stableId;
  }
}
