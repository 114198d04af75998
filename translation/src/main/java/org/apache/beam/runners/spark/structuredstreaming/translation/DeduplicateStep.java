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
package org.apache.beam.runners.spark.structuredstreaming.translation;

import java.util.List;
import org.apache.beam.sdk.coders.ByteArrayCoder;
import org.apache.beam.sdk.coders.Coder;

/**
 * Drops records whose id was seen not long ago, and takes the ids off those it passes. Its input is
 * what a {@link RecordIdSource} gives; its key is the record id. It holds no watermark.
 */
public final class DeduplicateStep extends KeyedStep {
  private static final Coder<byte[]> ID_CODER = ByteArrayCoder.of();

  public DeduplicateStep(
      int index, String fullName, int level, PlanCollection input, PlanCollection output) {
    super(index, fullName, level, List.of(input), List.of(output));
  }

  @Override
  public Coder<?> keyCoder() {
    return ID_CODER;
  }

  /** Coder of the records without their ids. */
  @Override
  public Coder<?> valueCoder() {
    return output().coder();
  }
}
