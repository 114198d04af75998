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

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.StepFailedException;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StateUnavailableException;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.FailureTransport;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.SourceReadException;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.UnreadableObjectException;
import org.apache.beam.sdk.Pipeline.PipelineExecutionException;
import org.apache.spark.sql.streaming.StreamingQueryException;

/** Finds in what Spark reports of a failed query what really failed. */
final class Failures {
  private static final int MAX_DEPTH = 100;

  private Failures() {}

  /**
   * The failure to show to the user. Where a step or a source of the pipeline failed by the user's
   * code, or an object of the user's could not be read, it is the user's own exception, with the one
   * that names the step or the object among its suppressed ones; otherwise what Spark says. State that
   * cannot be opened is said by its own exception.
   */
  static Throwable rootOf(Throwable failure) {
    Throwable current = failure;
    for (int depth = 0; current != null && depth < MAX_DEPTH; depth++) {
      if (current instanceof StepFailedException
          || current instanceof SourceReadException
          || current instanceof UnreadableObjectException) {
        return namingStep(current);
      }
      if (current instanceof StateUnavailableException) {
        return current;
      }
      current = current.getCause();
    }
    boolean wrapped = failure instanceof StreamingQueryException && failure.getCause() != null;
    return wrapped ? failure.getCause() : failure;
  }

  private static Throwable namingStep(Throwable step) {
    return step.getCause() == null
        ? step
        : noting(FailureTransport.original(step.getCause()), step.getMessage());
  }

  /**
   * Adds a note to a failure, as one of its suppressed exceptions. One that takes none, as those that
   * the JVM itself makes and any that its class has made so, becomes the cause of the note instead.
   *
   * @return what to show from here on
   */
  static Throwable noting(Throwable failure, String note) {
    PipelineStepFailure noted = new PipelineStepFailure(note, null);
    failure.addSuppressed(noted);
    boolean kept = Arrays.asList(failure.getSuppressed()).contains(noted);
    return kept ? failure : new PipelineStepFailure(note, failure);
  }

  /**
   * What to throw at whoever waits for the pipeline: its cause is the user's own exception whatever
   * notes it takes; one that could not be noted on it is among the suppressed ones of this.
   */
  static PipelineExecutionException forWaiting(Throwable failure) {
    List<Throwable> notes = new ArrayList<>();
    Throwable cause = failure;
    while (cause instanceof PipelineStepFailure && cause.getCause() != null) {
      notes.add(cause);
      cause = cause.getCause();
    }
    PipelineExecutionException thrown = new PipelineExecutionException(cause);
    notes.forEach(thrown::addSuppressed);
    return thrown;
  }

  /** Where in the pipeline a user's exception came from: it has no stack of its own. */
  static final class PipelineStepFailure extends RuntimeException {
    PipelineStepFailure(String message, Throwable cause) {
      super(message, cause, true, false);
    }
  }
}
