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

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Set;
import org.apache.beam.sdk.values.KV;
import org.joda.time.Duration;
import org.joda.time.Instant;

/** Tells values that nobody can change, so that holding the object is as good as its bytes. */
final class ImmutableValues {
  private static final Set<Class<?>> CLASSES =
      Set.of(
          Boolean.class,
          Byte.class,
          Character.class,
          Short.class,
          Integer.class,
          Long.class,
          Float.class,
          Double.class,
          String.class,
          BigInteger.class,
          BigDecimal.class,
          Instant.class,
          Duration.class,
          java.time.Instant.class,
          java.time.Duration.class);

  private ImmutableValues() {}

  /** True only if {@code value} is surely immutable; null is. */
  static boolean isImmutable(Object value) {
    if (value == null) {
      return true;
    }
    if (value instanceof KV<?, ?> kv) {
      return isImmutable(kv.getKey()) && isImmutable(kv.getValue());
    }
    return CLASSES.contains(value.getClass());
  }
}
