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
package org.apache.beam.runners.spark.structuredstreaming.operations;

import static org.hamcrest.Matchers.allOf;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.hasItemInArray;
import static org.hamcrest.Matchers.hasProperty;
import static org.hamcrest.Matchers.instanceOf;

import java.io.IOException;
import org.hamcrest.Matcher;

/** What user code may throw. */
enum Thrown {
  UNCHECKED,
  CHECKED,
  NOT_SERIALIZABLE,
  NO_CLASS,
  INITIALIZER,
  STACK_OVERFLOW,
  STACK_OVERFLOW_AS_CAUSE,
  CYCLE_OF_CAUSES,
  CYCLE_OF_SUPPRESSED,
  LONG_CHAIN_OF_CAUSES;

  private static final int LONG_CHAIN = 20_000;

  private static final class NotSerializable extends RuntimeException {
    @SuppressWarnings({"unused", "serial"}) // it is there to be in the way of serialization
    private final Object field = new Object();

    NotSerializable() {
      super("not serializable");
    }
  }

  Throwable make() {
    return switch (this) {
      case UNCHECKED -> new IllegalStateException("unchecked");
      case CHECKED -> new IOException("checked");
      case NOT_SERIALIZABLE -> new NotSerializable();
      case NO_CLASS -> new NoClassDefFoundError("no class");
      case INITIALIZER -> new ExceptionInInitializerError("initializer");
      case STACK_OVERFLOW -> stackOverflow();
      case STACK_OVERFLOW_AS_CAUSE -> new IllegalStateException("too deep", stackOverflow());
      case CYCLE_OF_CAUSES -> cycleOfCauses();
      case CYCLE_OF_SUPPRESSED -> cycleOfSuppressed();
      case LONG_CHAIN_OF_CAUSES -> longChainOfCauses();
    };
  }

  Matcher<Throwable> isExpected() {
    return switch (this) {
      case UNCHECKED -> is(IllegalStateException.class, "unchecked");
      case CHECKED -> is(IOException.class, "checked");
      case NOT_SERIALIZABLE -> is(RuntimeException.class, "NotSerializable: not serializable");
      case NO_CLASS -> is(NoClassDefFoundError.class, "no class");
      case INITIALIZER -> is(ExceptionInInitializerError.class, "initializer");
      case STACK_OVERFLOW -> instanceOf(StackOverflowError.class);
      case STACK_OVERFLOW_AS_CAUSE ->
          allOf(
              is(IllegalStateException.class, "too deep"),
              hasProperty("cause", instanceOf(StackOverflowError.class)));
      case CYCLE_OF_CAUSES ->
          allOf(
              is(RuntimeException.class, "IllegalStateException: first"),
              hasProperty("cause", is(RuntimeException.class, "IOException: second")));
      case CYCLE_OF_SUPPRESSED ->
          allOf(
              is(RuntimeException.class, "IllegalStateException: first"),
              hasProperty(
                  "suppressed",
                  hasItemInArray(is(RuntimeException.class, "IOException: second"))));
      case LONG_CHAIN_OF_CAUSES ->
          allOf(
              is(RuntimeException.class, "IllegalStateException: number " + (LONG_CHAIN - 1)),
              hasProperty(
                  "cause", is(RuntimeException.class, "IllegalStateException: number " + (LONG_CHAIN - 2))));
    };
  }

  private static Matcher<Throwable> is(Class<? extends Throwable> type, String message) {
    return allOf(instanceOf(type), hasProperty("message", containsString(message)));
  }

  private static Throwable cycleOfCauses() {
    IOException second = new IOException("second");
    IllegalStateException first = new IllegalStateException("first", second);
    second.initCause(first);
    return first;
  }

  private static Throwable cycleOfSuppressed() {
    IOException second = new IOException("second");
    IllegalStateException first = new IllegalStateException("first");
    first.addSuppressed(second);
    second.addSuppressed(first);
    return first;
  }

  private static Throwable longChainOfCauses() {
    IllegalStateException chain = null;
    for (int number = 0; number < LONG_CHAIN; number++) {
      chain = new IllegalStateException("number " + number, chain);
    }
    return chain;
  }

  private static Throwable stackOverflow() {
    try {
      return new IllegalStateException("No end of " + recurse(0));
    } catch (StackOverflowError e) {
      return e;
    }
  }

  @SuppressWarnings("InfiniteRecursion") // that is what it is for
  private static int recurse(int depth) {
    return recurse(depth + 1) + 1;
  }
}
