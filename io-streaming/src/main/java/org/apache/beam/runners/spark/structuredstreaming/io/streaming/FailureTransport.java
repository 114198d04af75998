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
package org.apache.beam.runners.spark.structuredstreaming.io.streaming;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.beam.sdk.util.SerializableUtils;

/**
 * Brings what user code threw from a task to the driver.
 *
 * <p>Three things can go wrong with an exception as the cause of a task's failure. One that cannot be
 * written or read as an object never arrives. Spark follows causes without an end, so that an exception
 * among whose causes it is itself keeps the task's thread for ever. And Spark ends the JVM of an
 * executor, on a local master the driver's own, when it finds a {@link VirtualMachineError} among the
 * causes: right for a lack of memory, wrong for an endless recursion of a user's function, which fails
 * its task alone.
 *
 * <p>What reaches Spark obeys: {@code depth(e) = 1 + max(depth of cause and suppressed exceptions) <=}
 * {@value #MAX_DEPTH}, so nothing is reached from itself.
 */
public final class FailureTransport {
  private static final int MAX_DEPTH = 100;
  private static final int TOO_DEEP = MAX_DEPTH + 1;

  private FailureTransport() {}

  /**
   * What stands for {@code failure} as the cause of a task's failure: itself if nothing speaks
   * against it. Called by the task. An {@link OutOfMemoryError} is not for this method: Spark is to
   * see it as it is.
   */
  public static Throwable toDriver(Throwable failure) {
    if (!isBounded(failure)) {
      return cut(failure);
    }
    byte[] encoded;
    try {
      encoded = SerializableUtils.serializeToByteArray(failure);
      SerializableUtils.deserializeFromByteArray(encoded, "a failure");
    } catch (RuntimeException | LinkageError | StackOverflowError e) {
      return described(failure, e);
    }
    return endsJvm(failure) ? new Carried(failure, encoded) : failure;
  }

  /** The failure itself, or where its causes have no end what stands for it. Called by the driver. */
  static Throwable bounded(Throwable failure) {
    return isBounded(failure) ? failure : cut(failure);
  }

  /** Adds {@code also} to the suppressed exceptions of a failure on its way to the driver. */
  static void join(Throwable failure, Throwable also) {
    boolean circular = reaches(also, failure, newSet());
    failure.addSuppressed(circular ? cut(also) : toDriver(also));
  }

  /** The original of what {@link #toDriver} gave. Called by the driver. */
  public static Throwable original(Throwable transported) {
    return transported instanceof Carried carried ? carried.original() : transported;
  }

  private static boolean isBounded(Throwable failure) {
    return depth(failure, 1, new IdentityHashMap<>()) <= MAX_DEPTH;
  }

  /**
   * How many exceptions hang together below one at {@code level}, itself included; {@link #TOO_DEEP} if
   * there is no end of them or the last is deeper than what is allowed.
   *
   * @param known depths found so far; those still asked for are without an end until they are known
   */
  private static int depth(Throwable failure, int level, Map<Throwable, Integer> known) {
    Integer depth = known.get(failure);
    if (depth == null) {
      if (level > MAX_DEPTH) {
        return TOO_DEEP;
      }
      known.put(failure, TOO_DEEP);
      depth = 1;
      for (Throwable next : next(failure)) {
        depth = Math.max(depth, 1 + depth(next, level + 1, known));
      }
      known.put(failure, depth);
    }
    return level - 1 + depth > MAX_DEPTH ? TOO_DEEP : depth;
  }

  private static boolean reaches(Throwable from, Throwable to, Set<Throwable> seen) {
    return from == to
        || (seen.size() < MAX_DEPTH
            && seen.add(from)
            && next(from).stream().anyMatch(next -> reaches(next, to, seen)));
  }

  private static Set<Throwable> newSet() {
    return Collections.newSetFromMap(new IdentityHashMap<>());
  }

  /** The cause, if there is one, and the suppressed exceptions. */
  private static List<Throwable> next(Throwable failure) {
    List<Throwable> next = new ArrayList<>(List.of(failure.getSuppressed()));
    if (failure.getCause() != null) {
      next.add(0, failure.getCause());
    }
    return next;
  }

  /** Text and stacks in the place of an exception among whose causes there is no end. */
  private static Throwable cut(Throwable failure) {
    Throwable cut = cut(failure, 1, newSet());
    return standingFor(
        cut,
        failure,
        "whose causes or suppressed exceptions form a cycle or hang together more than " + MAX_DEPTH
            + " deep");
  }

  /** A copy down to the depth that is allowed, with every exception once. */
  private static Throwable cut(Throwable failure, int level, Set<Throwable> seen) {
    if (!seen.add(failure)) {
      return new Cut(failure + " (the same as before; cut here)");
    }
    if (level == MAX_DEPTH && !next(failure).isEmpty()) {
      return withStack(new Cut(failure + " (its causes are cut here)"), failure);
    }
    Throwable cause = failure.getCause();
    RuntimeException copy =
        new RuntimeException(failure.toString(), cause == null ? null : cut(cause, level + 1, seen));
    for (Throwable suppressed : failure.getSuppressed()) {
      copy.addSuppressed(cut(suppressed, level + 1, seen));
    }
    return withStack(copy, failure);
  }

  /** Text, stack and causes in the place of an exception that cannot travel. */
  private static Throwable described(Throwable failure, Throwable reason) {
    Throwable cause = failure.getCause();
    RuntimeException description =
        new RuntimeException(failure.toString(), cause == null ? null : toDriver(cause));
    return standingFor(
        withStack(description, failure), failure, "which cannot be serialized: " + reason.getMessage());
  }

  private static Throwable withStack(Throwable copy, Throwable original) {
    copy.setStackTrace(original.getStackTrace());
    return copy;
  }

  private static Throwable standingFor(Throwable copy, Throwable original, String why) {
    copy.addSuppressed(
        new IOException("This stands for a " + original.getClass().getName() + ", " + why));
    return copy;
  }

  private static boolean endsJvm(Throwable failure) {
    Throwable current = failure;
    while (current != null && !(current instanceof VirtualMachineError)) {
      current = current.getCause();
    }
    return current != null;
  }

  /** Where a chain of exceptions was cut. It has no stack of its own. */
  private static final class Cut extends RuntimeException {
    Cut(String message) {
      super(message, null, true, true);
      setStackTrace(new StackTraceElement[0]);
    }
  }

  /** An exception as bytes: Spark sees no dangerous cause. */
  private static final class Carried extends RuntimeException {
    private final byte[] encoded;

    Carried(Throwable original, byte[] encoded) {
      super(original.toString(), null, false, true);
      this.encoded = encoded;
      setStackTrace(original.getStackTrace());
    }

    Throwable original() {
      try {
        return (Throwable) SerializableUtils.deserializeFromByteArray(encoded, "a failure");
      } catch (RuntimeException | LinkageError e) {
        // The driver lacks a class that the executor has: the text says what there is to say.
        addSuppressed(e);
        return this;
      }
    }
  }
}
