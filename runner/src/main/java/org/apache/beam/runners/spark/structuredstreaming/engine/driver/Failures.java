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
package org.apache.beam.runners.spark.structuredstreaming.engine.driver;

import org.apache.beam.runners.spark.structuredstreaming.engine.graph.StepFailedException;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.FailureTransport;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.SourceReadException;
import org.apache.spark.sql.streaming.StreamingQueryException;

/** Finds in what Spark reports of a failed query what really failed. */
final class Failures {
  private static final int MAX_DEPTH = 100;

  private Failures() {}

  /**
   * The failure to show to the user. Where a step or a source of the pipeline failed by the user's
   * code, it is the user's own exception, with the one that names the step among its suppressed
   * ones; otherwise what Spark says.
   */
  static Throwable rootOf(Throwable failure) {
    Throwable current = failure;
    for (int depth = 0; current != null && depth < MAX_DEPTH; depth++) {
      if (current instanceof StepFailedException || current instanceof SourceReadException) {
        return namingStep(current);
      }
      current = current.getCause();
    }
    boolean wrapped = failure instanceof StreamingQueryException && failure.getCause() != null;
    return wrapped ? failure.getCause() : failure;
  }

  private static Throwable namingStep(Throwable step) {
    if (step.getCause() == null) {
      return step;
    }
    Throwable user = FailureTransport.original(step.getCause());
    user.addSuppressed(new PipelineStepFailure(step.getMessage()));
    return user;
  }

  /** Where in the pipeline a user's exception came from: it has no stack of its own. */
  static final class PipelineStepFailure extends RuntimeException {
    PipelineStepFailure(String message) {
      super(message, null, false, false);
    }
  }
}
