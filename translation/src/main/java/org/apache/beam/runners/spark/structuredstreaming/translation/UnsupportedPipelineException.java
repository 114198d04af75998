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
package org.apache.beam.runners.spark.structuredstreaming.translation;

import java.io.Serializable;
import java.util.List;
import java.util.Objects;

/**
 * A pipeline that cannot be translated, with every reason found. Thrown before anything is started.
 */
public final class UnsupportedPipelineException extends UnsupportedOperationException {
  private final List<Problem> problems;

  /**
   * One reason.
   *
   * @param transform the full name of the transform that cannot be translated
   * @param reason what is unsupported or wrong there and, where there is one, the way around
   */
  public record Problem(String transform, String reason) implements Serializable {
    public Problem {
      Objects.requireNonNull(transform, "transform");
      Objects.requireNonNull(reason, "reason");
    }

    @Override
    public String toString() {
      return "'" + transform + "': " + reason;
    }
  }

  public UnsupportedPipelineException(List<Problem> problems) {
    super(message(problems));
    this.problems = List.copyOf(problems);
  }

  /** Every problem found, in the order of the pipeline's transforms; at least one. */
  public List<Problem> problems() {
    return problems;
  }

  private static String message(List<Problem> problems) {
    StringBuilder message = new StringBuilder("The pipeline cannot be run as a stream on Spark:");
    for (Problem problem : problems) {
      message.append("\n  ").append(problem);
    }
    return message.toString();
  }
}
