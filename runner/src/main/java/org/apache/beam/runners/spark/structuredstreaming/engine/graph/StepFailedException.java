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
package org.apache.beam.runners.spark.structuredstreaming.engine.graph;

import org.apache.beam.runners.spark.structuredstreaming.io.streaming.FailureTransport;

/**
 * A step of the pipeline failed. The message names the step and what it was doing; the cause is the
 * user's own exception where it was the user's code that failed, by way of {@link
 * FailureTransport}.
 */
public final class StepFailedException extends RuntimeException {
  /**
   * @throws OutOfMemoryError if that is the cause: the executor's JVM is to see it as it is
   */
  public StepFailedException(String fullName, String doing, Throwable cause) {
    super(fullName + ": " + doing + " failed: " + cause, transportable(cause));
  }

  /** The failure of a step, or what {@code cause} is already: that of a step behind it. */
  public static StepFailedException of(String fullName, String doing, Throwable cause) {
    return cause instanceof StepFailedException named
        ? named
        : new StepFailedException(fullName, doing, cause);
  }

  private static Throwable transportable(Throwable cause) {
    if (cause instanceof OutOfMemoryError fatal) {
      throw fatal;
    }
    return FailureTransport.toDriver(cause);
  }
}
