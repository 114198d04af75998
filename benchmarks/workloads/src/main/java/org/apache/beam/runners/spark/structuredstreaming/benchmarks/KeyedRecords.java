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
import org.apache.beam.sdk.coders.KvCoder;
import org.apache.beam.sdk.coders.VarLongCoder;
import org.apache.beam.sdk.values.KV;

/**
 * Records with a key that is spread evenly and at random over {@code [0, keys)} and a value below 1024.
 *
 * @param keys number of keys
 * @param seed makes other records
 */
record KeyedRecords(long keys, long seed) implements Generator<KV<Long, Long>> {
  KeyedRecords(long keys) {
    this(keys, 0);
  }

  /** Key of the record of a number. */
  long key(long number) {
    return Math.floorMod(Results.mix(number + seed), keys);
  }

  /** Value of the record of a number. */
  long value(long number) {
    return (number + seed) & 1023;
  }

  @Override
  public KV<Long, Long> record(long number) {
    return KV.of(key(number), value(number));
  }

  @Override
  public Coder<KV<Long, Long>> coder() {
    return KvCoder.of(VarLongCoder.of(), VarLongCoder.of());
  }
}
