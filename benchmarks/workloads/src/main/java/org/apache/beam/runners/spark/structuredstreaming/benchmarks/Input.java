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

import org.apache.beam.sdk.io.Read;
import org.apache.beam.sdk.transforms.PTransform;
import org.apache.beam.sdk.values.PBegin;
import org.apache.beam.sdk.values.PCollection;

/** Whether a pipeline reads a source that might go on for ever, as a stream, or one that ends, as a batch. */
enum Input {
  STREAM {
    @Override
    <T> PTransform<PBegin, PCollection<T>> read(Generator<T> generator, long records) {
      return Read.from(new UnboundedRecords<>(generator, records));
    }
  },
  BATCH {
    @Override
    <T> PTransform<PBegin, PCollection<T>> read(Generator<T> generator, long records) {
      return Read.from(new BoundedRecords<>(generator, 0, records));
    }
  };

  abstract <T> PTransform<PBegin, PCollection<T>> read(Generator<T> generator, long records);
}
