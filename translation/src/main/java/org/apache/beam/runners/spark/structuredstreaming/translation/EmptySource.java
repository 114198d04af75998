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
import java.util.Objects;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.coders.VoidCoder;
import org.apache.beam.sdk.io.UnboundedSource;
import org.apache.beam.sdk.options.PipelineOptions;

/**
 * Has no element: the watermark is at the end of time once the reader has been started. Stands for
 * a Flatten of no inputs.
 */
public final class EmptySource<T> extends UnboundedSource<T, BoundedReadMark> {
  private final Coder<T> coder;

  /**
   * @param coder of the elements there are none of
   */
  public EmptySource(Coder<T> coder) {
    this.coder = Objects.requireNonNull(coder, "coder");
  }

  /** For a collection without a coder, which nothing can encode in any case. */
  public static EmptySource<Void> withoutCoder() {
    return new EmptySource<>(VoidCoder.of());
  }

  @Override
  public List<EmptySource<T>> split(int desiredNumSplits, PipelineOptions options) {
    return List.of(this);
  }

  @Override
  public UnboundedReader<T> createReader(PipelineOptions options, BoundedReadMark mark) {
    BoundedReadMark from = mark == null ? BoundedReadMark.START : mark;
    return new BoundedReader<>(this, List.of(), new long[0], options, from);
  }

  @Override
  public Coder<BoundedReadMark> getCheckpointMarkCoder() {
    return BoundedReadMark.MarkCoder.INSTANCE;
  }

  @Override
  public Coder<T> getOutputCoder() {
    return coder;
  }

  @Override
  public String toString() {
    return "EmptySource";
  }
}
