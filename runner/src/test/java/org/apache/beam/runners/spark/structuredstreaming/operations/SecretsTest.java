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
package org.apache.beam.runners.spark.structuredstreaming.operations;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.not;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineOptions;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.runners.spark.structuredstreaming.engine.driver.PipelineRegistry;
import org.apache.beam.runners.spark.structuredstreaming.testing.Await;
import org.apache.beam.runners.spark.structuredstreaming.testing.Script;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.transforms.Count;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.WithKeys;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.appender.WriterAppender;
import org.apache.logging.log4j.core.config.Configuration;
import org.apache.logging.log4j.core.config.LoggerConfig;
import org.apache.logging.log4j.core.layout.PatternLayout;
import org.joda.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is in a pipeline's options is for its code alone, and what is in its checkpoint is its owner's. */
@Timeout(120)
class SecretsTest {
  private static final String SECRET = "jZ7-not-to-be-seen";

  @RegisterExtension
  static final TestSpark SPARK =
      TestSpark.on("local[2]").with("spark.ui.enabled", "true").with("spark.ui.port", "0");

  @TempDir Path directory;

  /** Options of a user that hold what nobody else is to know. */
  public interface SecretOptions extends SparkStructuredStreamingPipelineOptions {
    String getPassword();

    void setPassword(String password);

    Map<String, String> getConnection();

    void setConnection(Map<String, String> connection);
  }

  /** Shows by its failure that options have come to it. */
  private static final class LookFn extends DoFn<String, String> {
    private final boolean fails;

    LookFn(boolean fails) {
      this.fails = fails;
    }

    @ProcessElement
    public void process(
        ProcessContext context, @Element String element, OutputReceiver<String> output) {
      SecretOptions options = context.getPipelineOptions().as(SecretOptions.class);
      boolean known =
          SECRET.equals(options.getPassword())
              && SECRET.equals(options.getConnection().get("api.token"));
      if (fails || !known) {
        throw new IllegalStateException("fails on purpose; options are known: " + known);
      }
      output.output(element);
    }
  }

  private Pipeline pipeline(boolean streaming, boolean fails) {
    SecretOptions options =
        SPARK
            .options(
                "--streaming=" + streaming,
                "--jobName=secrets",
                "--checkpointDir=" + directory.resolve("checkpoint"),
                "--maxRestarts=1")
            .as(SecretOptions.class);
    options.setPassword(SECRET);
    options.setConnection(Map.of("api.token", SECRET));
    Pipeline pipeline = Pipeline.create(options);
    pipeline
        .apply(Script.read("secrets", Script.split().at(1, "a").epochs(2).end()))
        .apply(ParDo.of(new LookFn(fails)))
        .apply(WithKeys.of("key"))
        .apply(Window.into(FixedWindows.of(Duration.standardSeconds(10))))
        .apply(Count.perKey());
    return pipeline;
  }

  private static void assertNotIn(String where, String text) {
    assertThat(where, text, not(containsString(SECRET)));
  }

  private static String page(String path) throws IOException, InterruptedException {
    String root = SPARK.session().sparkContext().uiWebUrl().get();
    return HttpClient.newHttpClient()
        .send(
            HttpRequest.newBuilder(URI.create(root + path)).build(),
            HttpResponse.BodyHandlers.ofString())
        .body();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void optionsAreNeitherLoggedNorShownNorStored(boolean fails) throws Exception {
    StringWriter log = new StringWriter();
    LoggerContext context = (LoggerContext) LogManager.getContext(false);
    Configuration configuration = context.getConfiguration();
    WriterAppender appender =
        WriterAppender.createAppender(
            PatternLayout.createDefaultLayout(), null, log, "of-secrets-test", false, true);
    appender.start();
    LoggerConfig ofRunner = new LoggerConfig("org.apache.beam", Level.TRACE, true);
    ofRunner.addAppender(appender, Level.TRACE, null);
    configuration.addLogger("org.apache.beam", ofRunner);
    configuration.getRootLogger().addAppender(appender, Level.ALL, null);
    context.updateLoggers();
    try {
      SparkStructuredStreamingPipelineResult result =
          (SparkStructuredStreamingPipelineResult) pipeline(true, fails).run();
      if (fails) {
        RuntimeException failure =
            assertThrows(RuntimeException.class, () -> result.waitUntilFinish());
        assertThat(failure.getMessage(), containsString("options are known: true"));
      } else {
        result.waitUntilFinish();
        assertNotIn("progress", result.progressJson());
      }
      Await.until("the end", () -> result.getState().isTerminal(), result::getState);
      assertNotIn("the registry", PipelineRegistry.ended().toString());
    } finally {
      configuration.getRootLogger().removeAppender("of-secrets-test");
      configuration.removeLogger("org.apache.beam");
      context.updateLoggers();
    }
    assertThat(log.toString(), containsString("runs as query"));
    assertNotIn("the log", log.toString());
    for (String path :
        List.of(
            "/jobs/", "/stages/", "/storage/", "/environment/", "/executors/", "/StreamingQuery/",
            "/api/v1/applications/" + SPARK.session().sparkContext().applicationId() + "/environment",
            "/api/v1/applications/" + SPARK.session().sparkContext().applicationId() + "/jobs")) {
      assertNotIn(path, page(path));
    }
    try (Stream<Path> files = Files.walk(directory.resolve("checkpoint"))) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        assertNotIn(file.toString(), Files.readString(file, StandardCharsets.ISO_8859_1));
      }
    }
  }

  @Test
  void othersCannotPutAnythingIntoACheckpointThatTheRunnerMakes() throws IOException {
    pipeline(true, false).run().waitUntilFinish();
    assertThat(
        Files.getPosixFilePermissions(directory.resolve("checkpoint")).stream()
            .filter(permission -> permission.name().startsWith("OTHERS"))
            .toList(),
        is(List.of()));
    Path given = Files.createDirectory(directory.resolve("given"));
    Set<PosixFilePermission> before = Files.getPosixFilePermissions(given);
    Pipeline pipeline = Pipeline.create(SPARK.options("--checkpointDir=" + given));
    pipeline.apply(Script.read("given", Script.split().at(1, "a").end()));
    pipeline.run().waitUntilFinish();
    assertThat("permissions that the user has set", Files.getPosixFilePermissions(given), is(before));
  }

  @Test
  void namesOfTransformsAndJobsDoNotLeadOutOfTheCheckpoint() throws IOException {
    Path checkpoint = Files.createDirectories(directory.resolve("a/b/c/checkpoint"));
    Pipeline pipeline =
        Pipeline.create(
            SPARK.options("--jobName=../../../escaped", "--checkpointDir=" + checkpoint));
    pipeline
        .apply("../../../escaped", Script.read("escaped", Script.split().at(1, "a").end()))
        .apply("../window", Window.into(FixedWindows.of(Duration.standardSeconds(10))))
        .apply("../../../../escaped", WithKeys.of("../../key"))
        .apply("/escaped", Count.perKey());
    pipeline.run().waitUntilFinish();
    try (Stream<Path> files = Files.walk(directory)) {
      assertThat(
          files.filter(Files::isRegularFile).filter(file -> !file.startsWith(checkpoint)).toList(),
          is(List.of()));
    }
  }
}
