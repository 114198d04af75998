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
package org.apache.beam.runners.spark.structuredstreaming.testing;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineOptions;
import org.apache.beam.sdk.options.PipelineOptionsFactory;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** A Spark session of one test class, registered as a static extension. */
public final class TestSpark implements BeforeAllCallback, AfterAllCallback {
  private final String master;
  private final Map<String, String> conf = new LinkedHashMap<>();
  private SparkSession session;

  private TestSpark(String master) {
    this.master = master;
  }

  /**
   * A session on a master. {@code local[2]} never runs a failed task again; {@code local[2,3]} does,
   * twice.
   */
  public static TestSpark on(String master) {
    return new TestSpark(master)
        .with("spark.ui.enabled", "false")
        .with("spark.driver.host", "localhost")
        .with("spark.driver.bindAddress", "127.0.0.1");
  }

  /** Adds a setting of Spark's. */
  public TestSpark with(String key, String value) {
    conf.put(key, value);
    return this;
  }

  /** The session, while the class runs. */
  public SparkSession session() {
    return session;
  }

  /**
   * Options of a pipeline in this session that reads what there is without a limit of time.
   *
   * @param more further options; one that is set here already is set by these
   */
  public SparkStructuredStreamingPipelineOptions options(String... more) {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "--runner=SparkStructuredStreamingRunner",
                "--useActiveSparkSession=true",
                "--streaming=true",
                "--maxBatchDurationMillis=60000",
                "--maxIdlePauseMillis=20",
                "--restartBackoffMillis=1"));
    for (String argument : more) {
      String name = argument.substring(0, argument.indexOf('=') + 1);
      arguments.removeIf(set -> !name.isEmpty() && set.startsWith(name));
      arguments.add(argument);
    }
    return PipelineOptionsFactory.fromArgs(arguments.toArray(String[]::new))
        .as(SparkStructuredStreamingPipelineOptions.class);
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    stop();
    SparkSession.Builder builder = SparkSession.builder().master(master).appName(context.getDisplayName());
    conf.forEach(builder::config);
    session = builder.getOrCreate();
  }

  @Override
  public void afterAll(ExtensionContext context) {
    stop();
    session = null;
  }

  /** Stops whatever session the JVM has, one that another test class left included. */
  private static void stop() {
    if (SparkSession.getDefaultSession().isDefined()) {
      SparkSession.getDefaultSession().get().stop();
    }
    SparkSession.clearActiveSession();
    SparkSession.clearDefaultSession();
  }
}
