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

/**
 * Says which transform, split and epoch a failure of a user's source belongs to. The source's own
 * exception or error is the cause, by way of {@link FailureTransport}. It is checked for the sake of
 * Spark's reader interface, and fails the task.
 */
public final class SourceReadException extends IOException {
  SourceReadException(String fullName, int splitId, long epoch, String action, Throwable cause) {
    super(
        "Reading " + fullName + ", split " + splitId + ", epoch " + epoch + ": " + action + " failed: "
            + cause,
        FailureTransport.toDriver(ofUser(cause)));
  }

  /** A failure on the driver, where no split is being read. */
  SourceReadException(String message, Throwable cause) {
    super(message, FailureTransport.bounded(cause));
  }

  /** What the user's class threw when its object was read, which the message tells of. */
  private static Throwable ofUser(Throwable cause) {
    return cause instanceof UnreadableObjectException && cause.getCause() != null
        ? FailureTransport.original(cause.getCause())
        : cause;
  }
}
