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

import java.util.function.Supplier;
import org.apache.beam.sdk.state.ReadableState;

/** A read that is made when its result is asked for, anew each time. */
final class DeferredRead<T> implements ReadableState<T> {
  private final Supplier<T> read;

  private DeferredRead(Supplier<T> read) {
    this.read = read;
  }

  static <T> ReadableState<T> of(Supplier<T> read) {
    return new DeferredRead<>(read);
  }

  /** The result of a read that has been made. */
  static <T> ReadableState<T> immediate(T value) {
    return new DeferredRead<>(() -> value);
  }

  @Override
  public T read() {
    return read.get();
  }

  @Override
  public ReadableState<T> readLater() {
    return this;
  }
}
