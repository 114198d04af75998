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
import org.apache.beam.sdk.util.SerializableUtils;

/**
 * Brings what user code threw from a task to the driver.
 *
 * <p>Two things can go wrong with an exception as the cause of a task's failure. One that cannot be
 * written or read as an object never arrives. And Spark ends the JVM of an executor, on a local
 * master the driver's own, when it finds a {@link VirtualMachineError} among the causes: right for a
 * lack of memory, wrong for an endless recursion of a user's function, which fails its task alone.
 */
public final class FailureTransport {
  private static final int MAX_DEPTH = 20;

  private FailureTransport() {}

  /**
   * What stands for {@code failure} as the cause of a task's failure: itself if nothing speaks
   * against it. Called by the task. An {@link OutOfMemoryError} is not for this method: Spark is to
   * see it as it is.
   */
  public static Throwable toDriver(Throwable failure) {
    return toDriver(failure, MAX_DEPTH);
  }

  /** The original of what {@link #toDriver} gave. Called by the driver. */
  public static Throwable original(Throwable transported) {
    return transported instanceof Carried carried ? carried.original() : transported;
  }

  private static Throwable toDriver(Throwable failure, int depth) {
    byte[] encoded;
    try {
      encoded = SerializableUtils.serializeToByteArray(failure);
      SerializableUtils.deserializeFromByteArray(encoded, "a failure");
    } catch (RuntimeException | LinkageError e) {
      return described(failure, depth, e);
    }
    return endsJvm(failure) ? new Carried(failure, encoded) : failure;
  }

  /** Text, stack and causes in the place of an exception that cannot travel. */
  private static Throwable described(Throwable failure, int depth, Throwable reason) {
    Throwable cause = failure.getCause();
    Throwable sentCause = cause == null || depth == 0 ? null : toDriver(cause, depth - 1);
    RuntimeException description = new RuntimeException(failure.toString(), sentCause);
    description.setStackTrace(failure.getStackTrace());
    description.addSuppressed(
        new IOException(
            "This stands for a " + failure.getClass().getName() + ", which cannot be serialized: "
                + reason.getMessage()));
    return description;
  }

  private static boolean endsJvm(Throwable failure) {
    Throwable current = failure;
    for (int depth = 0; current != null && depth < MAX_DEPTH; depth++) {
      if (current instanceof VirtualMachineError) {
        return true;
      }
      current = current.getCause();
    }
    return false;
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
