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
package org.apache.beam.runners.spark.structuredstreaming.engine.driver.scaling;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.allOf;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.is;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.PipelineResult.State;
import org.apache.beam.sdk.io.GenerateSequence;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.Logger;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Property;
import org.apache.spark.SparkContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Where executors cannot be scaled, or not by the runner. */
class ExecutorScalingTest {
  private static final String SPARKS_OWN = "spark.dynamicAllocation.enabled";

  // In local mode Spark takes note of the setting and does nothing about it.
  @RegisterExtension
  static final TestSpark SPARK = TestSpark.on("local[2]").with(SPARKS_OWN, "true");

  @TempDir Path directory;

  private static final class Warnings extends AbstractAppender {
    private final List<String> messages = new CopyOnWriteArrayList<>();

    Warnings() {
      super("warnings", null, null, true, Property.EMPTY_ARRAY);
    }

    @Override
    public void append(LogEvent event) {
      if (event.getLevel().equals(Level.WARN)) {
        messages.add(event.getMessage().getFormattedMessage());
      }
    }
  }

  private Pipeline pipeline(String dynamicAllocation) {
    Pipeline pipeline =
        Pipeline.create(
            SPARK.options(
                "--dynamicAllocation=" + dynamicAllocation,
                "--triggerIntervalMillis=50",
                "--jobName=scaled-" + dynamicAllocation,
                "--checkpointDir=" + directory.resolve("checkpoint")));
    pipeline.apply(GenerateSequence.from(0).to(10));
    return pipeline;
  }

  @Test
  void besideSparksOwnItIsRefused() {
    IllegalArgumentException refused =
        assertThrows(IllegalArgumentException.class, () -> pipeline("true").run());
    assertThat(
        refused.getMessage(),
        allOf(containsString("--dynamicAllocation=true"), containsString(SPARKS_OWN + " is on")));
    assertThat(pipeline("false").run().waitUntilFinish(), is(State.DONE));
  }

  @Test
  void whereTheClusterManagerHasNoClientItIsOffWithAWarning() {
    Warnings warnings = new Warnings();
    warnings.start();
    Logger logger = (Logger) LogManager.getLogger(ExecutorScaling.class);
    logger.addAppender(warnings);
    SparkContext context = SPARK.session().sparkContext();
    try {
      assertThat(
          ExecutorScaling.of(SPARK.options("--jobName=unscaled"), context), is(Optional.empty()));
      assertThat(warnings.messages, empty());
      assertThat(
          ExecutorScaling.of(
              SPARK.options("--jobName=unscaled", "--dynamicAllocation=true"), context),
          is(Optional.empty()));
      assertThat(
          warnings.messages,
          contains(allOf(containsString("unscaled"), containsString("local[2]"))));
    } finally {
      logger.removeAppender(warnings);
      warnings.stop();
    }
  }
}
