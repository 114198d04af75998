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
package org.apache.beam.runners.spark.structuredstreaming.testing;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Waits of tests for what other threads or processes bring about. */
public final class Await {
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(5);
  private static final long LIMIT_SECONDS = 180;

  private Await() {}

  /** Returns when {@code condition} holds; fails after three minutes, saying what {@code found} says then. */
  public static void until(String what, BooleanSupplier condition, Supplier<?> found) {
    until(what, LIMIT_SECONDS, condition, found);
  }

  /** As {@link #until(String, BooleanSupplier, Supplier)} for what may take longer. */
  public static void until(
      String what, long limitSeconds, BooleanSupplier condition, Supplier<?> found) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(limitSeconds);
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > end) {
        throw new AssertionError(
            "Not within " + limitSeconds + " s: " + what + ". Found: " + found.get());
      }
      LockSupport.parkNanos(LOOK_NANOS);
    }
  }
}
