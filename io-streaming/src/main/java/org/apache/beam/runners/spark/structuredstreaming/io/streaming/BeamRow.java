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

import org.apache.beam.sdk.values.WindowedValue;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;

/**
 * A row that carries a live element. One is reused by each reader: its element must be taken before
 * the next row is asked for. It must not be serialized, copied by schema or kept.
 */
public final class BeamRow extends GenericInternalRow {
  BeamRow() {
    super(new Object[1]);
  }

  /** The element read last. */
  @SuppressWarnings("unchecked") // set() puts nothing else in
  public WindowedValue<Object> value() {
    return (WindowedValue<Object>) values()[0];
  }

  void set(WindowedValue<Object> value) {
    values()[0] = value;
  }
}
