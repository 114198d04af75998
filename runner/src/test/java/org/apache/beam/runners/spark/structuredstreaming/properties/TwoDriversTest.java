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
package org.apache.beam.runners.spark.structuredstreaming.properties;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.greaterThan;
import static org.hamcrest.Matchers.is;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineOptions;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.runners.spark.structuredstreaming.testing.Await;
import org.apache.beam.runners.spark.structuredstreaming.testing.ForkedProgram;
import org.apache.beam.runners.spark.structuredstreaming.testing.LocalFilesBySchemeOnly;
import org.apache.beam.runners.spark.structuredstreaming.testing.RecoveryPipeline;
import org.apache.beam.runners.spark.structuredstreaming.testing.RestartHarness;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.runners.spark.structuredstreaming.testing.WaitPoints;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.PipelineResult.State;
import org.apache.beam.sdk.options.PipelineOptionsFactory;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.Logger;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A second driver is started with the checkpoint of one that runs. */
@Timeout(180)
class TwoDriversTest {
  @RegisterExtension
  static final TestSpark SPARK =
      TestSpark.on("local[2]")
          .with("spark.hadoop." + LocalFilesBySchemeOnly.SETTING, LocalFilesBySchemeOnly.class.getName())
          .with("spark.hadoop.fs." + HeldUpFiles.NAME + ".impl", HeldUpFiles.class.getName());

  @TempDir Path directory;

  /** Files that are held up once tasks of an epoch make their state durable, which is their last work. */
  public static final class HeldUpFiles extends LocalFilesBySchemeOnly {
    static final String NAME = "heldup";
    private static final Pattern HELD_UP = Pattern.compile(".*/state/.*/4\\.[a-z]+");
    private static final CountDownLatch REACHED = new CountDownLatch(1);
    private static final CountDownLatch OPEN = new CountDownLatch(1);

    @Override
    public URI getUri() {
      return URI.create(NAME + ":///");
    }

    @Override
    public String getScheme() {
      return NAME;
    }

    @Override
    public boolean rename(org.apache.hadoop.fs.Path from, org.apache.hadoop.fs.Path to)
        throws IOException {
      if (HELD_UP.matcher(to.toString()).matches()) {
        REACHED.countDown();
        try {
          OPEN.await();
        } catch (InterruptedException e) {
          throw new IOException(e);
        }
      }
      return super.rename(from, to);
    }
  }

  /** Keeps what is logged. */
  private static final class Lines extends AbstractAppender {
    private final List<String> logged = new CopyOnWriteArrayList<>();

    Lines() {
      super("lines", null, null, true, Property.EMPTY_ARRAY);
    }

    @Override
    public void append(LogEvent event) {
      logged.add(event.getMessage().getFormattedMessage());
    }

    boolean has(String text) {
      return logged.stream().anyMatch(line -> line.contains(text));
    }
  }

  /** Runs the pipeline in a process of its own, with the checkpoint and files of the test. */
  public static final class SecondDriver {
    private SecondDriver() {}

    /**
     * Runs the pipeline, or says why it is refused.
     *
     * @param arguments the checkpoint directory and that of the other files
     */
    public static void main(String[] arguments) {
      System.setProperty(
          "spark.hadoop." + LocalFilesBySchemeOnly.SETTING, LocalFilesBySchemeOnly.class.getName());
      SparkStructuredStreamingPipelineOptions options =
          PipelineOptionsFactory.fromArgs(
                  "--runner=SparkStructuredStreamingRunner",
                  "--sparkMaster=local[1]",
                  "--streaming=true",
                  "--checkpointLeaseMillis=3000",
                  "--checkpointDir=" + arguments[0])
              .as(SparkStructuredStreamingPipelineOptions.class);
      Pipeline pipeline = Pipeline.create(options);
      new RecoveryPipeline("two-drivers", Path.of(arguments[1]), Set.of(), Set.of()).build(pipeline);
      try {
        pipeline.run().waitUntilFinish();
        System.out.println("It has run.");
      } catch (IllegalStateException e) {
        System.out.println("Refused: " + e.getMessage());
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"file", LocalFilesBySchemeOnly.SCHEME})
  void theSecondIsRefusedAndTheFirstUnharmed(String scheme) throws Exception {
    String checkpoint = scheme + ":" + directory.resolve("checkpoint");
    String waitsAt = "r0-5";
    RecoveryPipeline pipeline = new RecoveryPipeline("two-drivers", directory, Set.of(), Set.of());
    WaitPoints points = new WaitPoints(directory.resolve("points"));
    Pipeline first =
        Pipeline.create(
            SPARK.options(
                "--checkpointDir=" + checkpoint,
                "--checkpointLeaseMillis=3000",
                "--maxRecordsPerMicroBatch=7",
                "--maxRestarts=0"));
    pipeline.build(
        first,
        records -> records.apply(points.on("wait", Set.of(waitsAt))),
        groups -> groups);
    SparkStructuredStreamingPipelineResult result =
        (SparkStructuredStreamingPipelineResult) first.run();
    try {
      Await.until("the middle of an epoch", () -> points.isReached(waitsAt), result::getState);
      Path log = directory.resolve("second.log");
      new ForkedProgram(SecondDriver.class, "512m", 2)
          .run(log, List.of(checkpoint, directory.resolve("of-second").toString()));
      String said = Files.readString(log);
      assertThat(said, containsString("Refused: The checkpoint is in use by another driver (job "));
      assertThat(said, containsString("process " + ProcessHandle.current().pid() + " on "));
      points.open(waitsAt);
      RestartHarness.finish(result);
    } finally {
      result.cancel();
    }
    pipeline.assertExact();
    assertThat(result.getState().isTerminal(), is(true));
  }

  /** Each task of the epoch had leave to write, as the checkpoint was lost behind that. */
  @Test
  void theEpochInWhichADriverHasLostItsCheckpointIsNotCommitted() throws Exception {
    Path checkpoint = directory.resolve("checkpoint");
    Pipeline pipeline =
        Pipeline.create(
            SPARK.options(
                "--checkpointDir=" + HeldUpFiles.NAME + ":" + checkpoint,
                "--checkpointLeaseMillis=3000",
                "--maxRecordsPerMicroBatch=7",
                "--maxRestarts=3"));
    new RecoveryPipeline("lost", directory, Set.of(), Set.of()).build(pipeline);
    Lines lines = new Lines();
    lines.start();
    Logger logger = (Logger) LogManager.getRootLogger();
    logger.addAppender(lines);
    SparkStructuredStreamingPipelineResult result =
        (SparkStructuredStreamingPipelineResult) pipeline.run();
    try {
      HeldUpFiles.REACHED.await();
      Set<String> committed = commits(checkpoint);
      Files.delete(checkpoint.resolve("beam/lease"));
      Await.until("the loss", () -> lines.has("this one does not go on"), () -> lines.logged);
      HeldUpFiles.OPEN.countDown();
      Exception failure = assertThrows(RuntimeException.class, result::waitUntilFinish);
      assertThat(failure.getMessage(), containsString("this one does not go on"));
      assertThat(result.getState(), is(State.FAILED));
      assertThat(committed.size(), is(greaterThan(0)));
      assertThat(commits(checkpoint), is(committed));
    } finally {
      HeldUpFiles.OPEN.countDown();
      logger.removeAppender(lines);
      result.cancel();
    }
  }

  /** The epochs that Spark has committed. */
  private static Set<String> commits(Path checkpoint) throws IOException {
    try (Stream<Path> files = Files.list(checkpoint.resolve("commits"))) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> !name.startsWith("."))
          .collect(Collectors.toSet());
    }
  }
}
