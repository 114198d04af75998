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
package org.apache.beam.runners.spark.structuredstreaming.examples;

import java.util.Arrays;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.options.PipelineOptionsFactory;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.joda.time.Instant;

/** Checks the examples' own arguments, so that a wrong one is said by its name and expected form. */
final class ExampleArguments {
  /** Hundred years; windows that are longer make no sense, and much longer ones have no end. */
  private static final long MOST_WINDOW_SECONDS = 3_155_760_000L;

  /** A year. */
  private static final long MOST_LINE_INTERVAL_MILLIS = 31_557_600_000L;

  /** A number's form: whole or with a fraction. */
  private enum Form {
    WHOLE("a whole number") {
      @Override
      void parse(String value) {
        Long.parseLong(value);
      }
    },
    DECIMAL("a number") {
      @Override
      void parse(String value) {
        Double.parseDouble(value);
      }
    };

    private final String description;

    Form(String description) {
      this.description = description;
    }

    abstract void parse(String value);
  }

  private static final Map<String, Form> NUMBERS =
      Map.of(
          "windowSeconds", Form.WHOLE,
          "lineIntervalMillis", Form.WHOLE,
          "linesPerSecond", Form.DECIMAL);

  private static final String RUNNER = "--runner";

  private ExampleArguments() {}

  /** The options that the arguments give, with this project's runner if they name none. */
  static <T extends PipelineOptions> T options(Class<T> options, String... args) {
    PipelineOptionsFactory.register(options);
    boolean runnerGiven =
        Arrays.stream(args).anyMatch(arg -> arg.equals(RUNNER) || arg.startsWith(RUNNER + "="));
    String[] all =
        runnerGiven
            ? args
            : Stream.concat(Stream.of(RUNNER + "=SparkStructuredStreamingRunner"), Arrays.stream(args))
                .toArray(String[]::new);
    return PipelineOptionsFactory.fromArgs(all).withValidation().as(options);
  }

  /**
   * Checks the form of numbers, before Beam reads them.
   *
   * @throws IllegalArgumentException naming the first argument that is wrong
   */
  static void checkForm(String... args) {
    for (String arg : args) {
      int equals = arg.indexOf('=');
      if (!arg.startsWith("--") || equals < 0) {
        continue;
      }
      Form form = NUMBERS.get(arg.substring(2, equals));
      if (form != null) {
        try {
          form.parse(arg.substring(equals + 1));
        } catch (NumberFormatException e) {
          throw new IllegalArgumentException(arg + " must be " + form.description + ".", e);
        }
      }
    }
  }

  /**
   * Checks the values.
   *
   * @throws IllegalArgumentException naming the first option that is wrong
   */
  static void checkValues(StreamingWordCountOptions options) {
    between("windowSeconds", options.getWindowSeconds(), MOST_WINDOW_SECONDS);
    between("lineIntervalMillis", options.getLineIntervalMillis(), MOST_LINE_INTERVAL_MILLIS);
    double pace = options.getLinesPerSecond();
    if (!Double.isFinite(pace) || pace < 0) {
      throw new IllegalArgumentException(
          "--linesPerSecond=" + pace
              + " must be a positive number, or 0 for as fast as possible.");
    }
    startTime(options);
    if (options.getOutput() == null || options.getOutput().isBlank()) {
      throw new IllegalArgumentException("--output is empty: name a directory for the results.");
    }
  }

  private static void between(String name, long value, long most) {
    if (value < 1 || value > most) {
      throw new IllegalArgumentException(
          "--" + name + "=" + value + " must be between 1 and " + most + ".");
    }
  }

  /** The event time of the first line. */
  static Instant startTime(StreamingWordCountOptions options) {
    Instant time;
    try {
      time = Instant.parse(options.getStartTime());
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "--startTime=" + options.getStartTime()
              + " must be an ISO 8601 instant such as 2024-01-01T00:00:00Z.",
          e);
    }
    if (time.isBefore(BoundedWindow.TIMESTAMP_MIN_VALUE)
        || time.isAfter(BoundedWindow.TIMESTAMP_MAX_VALUE)) {
      throw new IllegalArgumentException(
          "--startTime=" + options.getStartTime() + " must be between "
              + BoundedWindow.TIMESTAMP_MIN_VALUE + " and " + BoundedWindow.TIMESTAMP_MAX_VALUE + ".");
    }
    return time;
  }
}
