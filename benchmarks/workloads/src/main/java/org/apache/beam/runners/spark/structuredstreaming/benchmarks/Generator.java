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

import java.io.Serializable;
import org.apache.beam.sdk.coders.Coder;
import org.joda.time.Instant;

/**
 * Makes records of their numbers, so that every runner reads the same. Event times never go back as
 * numbers grow.
 *
 * @param <T> type of a record
 */
interface Generator<T> extends Serializable {
  /** Records in a millisecond of event time. */
  long RECORDS_PER_MILLISECOND = 5;

  /** The record of a number from 0 on. */
  T record(long number);

  /** The coder of records. */
  Coder<T> coder();

  /** Event time of the record of a number, in milliseconds. */
  default long millis(long number) {
    return number / RECORDS_PER_MILLISECOND;
  }

  /** Event time of the record of a number. */
  default Instant timestamp(long number) {
    return Instant.ofEpochMilli(millis(number));
  }
}
