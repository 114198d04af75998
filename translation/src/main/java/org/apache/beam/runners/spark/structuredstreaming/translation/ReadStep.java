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
import org.apache.beam.sdk.io.UnboundedSource;

/**
 * Reads a source, in a streaming plan on level 0. Impulse, empty Flatten and bounded reads are unbounded
 * sources here too, whose watermark reaches the end of time behind their last element.
 */
public final class ReadStep extends Step {
  private final int level;
  private final int sourceIndex;
  private final UnboundedSource<?, ?> source;

  /**
   * @param sourceIndex position among the plan's sources, from 0
   */
  public ReadStep(
      int index,
      String fullName,
      int level,
      int sourceIndex,
      UnboundedSource<?, ?> source,
      PlanCollection output) {
    super(index, fullName, List.of(), List.of(output));
    this.level = level;
    this.sourceIndex = sourceIndex;
    this.source = Objects.requireNonNull(source, "source");
  }

  /** The same read of another source. */
  ReadStep withSource(UnboundedSource<?, ?> other) {
    return new ReadStep(index(), fullName(), level, sourceIndex, other, output());
  }

  public int level() {
    return level;
  }

  public int sourceIndex() {
    return sourceIndex;
  }

  public UnboundedSource<?, ?> source() {
    return source;
  }

  /** Whether the source is one that the user reads as an unbounded one. */
  public boolean isUnbounded() {
    return !(source instanceof BoundedReadSource<?>
        || source instanceof ImpulseSource
        || source instanceof EmptySource<?>);
  }

  /**
   * The coder of the source's checkpoint marks; null if the source has none, and so nothing to go on
   * from when its reader is lost.
   *
   * @throws IllegalStateException if the source fails to give it; names the transform
   */
  public Coder<?> markCoder() {
    try {
      return source.getCheckpointMarkCoder();
    } catch (RuntimeException | LinkageError | StackOverflowError e) {
      throw new IllegalStateException(
          fullName() + ": getCheckpointMarkCoder of " + source.getClass().getName() + " failed: " + e,
          e);
    }
  }

  public PlanCollection output() {
    return outputs().get(0);
  }
}
