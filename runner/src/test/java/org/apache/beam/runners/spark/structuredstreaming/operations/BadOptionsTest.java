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
import static org.hamcrest.Matchers.allOf;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.is;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineOptions;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingRunner;
import org.apache.beam.runners.spark.structuredstreaming.engine.driver.PipelineRegistry;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.PipelineResult.State;
import org.apache.beam.sdk.PipelineRunner;
import org.apache.beam.sdk.io.Read;
import org.apache.beam.sdk.options.PipelineOptionsFactory;
import org.apache.beam.sdk.transforms.Count;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.joda.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Options and checkpoint directories that cannot be right are refused, by name, at the start. */
class BadOptionsTest {
  @TempDir Path directory;

  private static Pipeline pipeline(String... options) {
    Pipeline pipeline = Pipeline.create(Runs.options(options));
    pipeline
        .apply("Numbers", Read.from(Feed.of(1).end().source()))
        .apply("Collect", ParDo.of(new Collected<>()));
    return pipeline;
  }

  private static String refusal(Class<? extends Exception> type, String... options) {
    int running = PipelineRegistry.running().size();
    String message = assertThrows(type, () -> pipeline(options).run()).getMessage();
    assertThat(PipelineRegistry.running().size(), is(running));
    return message;
  }

  @Test
  void anUnknownOptionIsRefused() {
    IllegalArgumentException refused =
        assertThrows(IllegalArgumentException.class, () -> Runs.options("--checkpointDirr=/x"));
    assertThat(refused.getMessage(), containsString("checkpointDirr"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "maxBatchDurationMillis=0",
        "triggerIntervalMillis=-1",
        "maxIdlePauseMillis=0",
        "readerIdleTimeoutMillis=0",
        "parallelism=-1",
        "sourceSplits=-1",
        "parallelism=10001",
        "sourceSplits=10001",
        "maxRestarts=-1",
        "restartBackoffMillis=-1",
        "triggerIntervalMillis=300000",
        "dynamicAllocationScalingIntervalMillis=0",
        "dynamicAllocationScalingUpRatio=0.3",
        "dynamicAllocationScalingUpRatio=Infinity",
        "dynamicAllocationScalingDownRatio=0",
        "dynamicAllocationScalingDownRatio=NaN",
        "dynamicAllocationScalingDownRatio=0.9",
        "dynamicAllocationMinExecutors=0",
        "dynamicAllocationMaxExecutors=0",
        "dynamicAllocation=true"
      })
  void aValueOutOfRangeIsRefused(String option) {
    assertThat(
        refusal(IllegalArgumentException.class, "--" + option), containsString("--" + option));
  }

  @Test
  void scalingByLoadNeedsEpochsThatMayFillTheirInterval() {
    assertThat(
        refusal(
            IllegalArgumentException.class,
            "--dynamicAllocation=true",
            "--triggerIntervalMillis=1001",
            "--maxBatchDurationMillis=1000"),
        containsString("at least --triggerIntervalMillis=1001, and it is 1000"));
  }

  @Test
  void aDrainOfNothingIsRefused() {
    assertThat(
        refusal(IllegalArgumentException.class, "--drain=true"),
        containsString("--drain=true without --checkpointDir"));
    Path empty = directory.resolve("empty");
    assertThat(
        refusal(IllegalStateException.class, "--drain=true", "--checkpointDir=" + empty),
        allOf(containsString("nothing to drain"), containsString(empty.toString())));
  }

  @Test
  void aRefusalOfTooManyPartitionsSaysHowManyThereMayBe() {
    assertThat(
        refusal(IllegalArgumentException.class, "--parallelism=2000000000"),
        containsString("at most 10000"));
    assertThat(
        PipelineRunner.fromOptions(Runs.options("--parallelism=10000", "--sourceSplits=10000"))
            instanceof SparkStructuredStreamingRunner,
        is(true));
  }

  @Test
  void anEmptyMasterIsRefused() {
    assertThat(
        refusal(IllegalArgumentException.class, "--sparkMaster="),
        containsString("--sparkMaster is empty"));
  }

  @Test
  void anUnknownMasterIsRefused() {
    for (String master : List.of("locl", "locl[2]", "local[]", "local[2", "local-cluster[2]", "yarn-")) {
      assertThat(
          refusal(
              IllegalArgumentException.class,
              "--sparkMaster=" + master,
              "--checkpointDir=" + directory),
          allOf(containsString("--sparkMaster=" + master), containsString("local[2]")));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "local",
        "local[*]",
        "local[*, 3]",
        "local-cluster[2,1,1024]",
        "local-cluster[ 2 , 1 , 1024 ]",
        "yarn",
        "spark://one:7077,two:7077",
        "k8s://https://host:6443"
      })
  void mastersThatSparkKnowsAreAccepted(String master) {
    assertThat(
        PipelineRunner.fromOptions(Runs.options("--sparkMaster=" + master))
            instanceof SparkStructuredStreamingRunner,
        is(true));
  }

  @Test
  void anEmptyCheckpointDirectoryIsRefused() {
    assertThat(
        refusal(IllegalArgumentException.class, "--checkpointDir="),
        containsString("--checkpointDir is empty"));
  }

  @ParameterizedTest
  @ValueSource(strings = {".DS_Store", ".profile", ".git/HEAD", "beam/sources/x", "beam/.hidden"})
  void aDirectoryWithHiddenFilesOfOthersIsRefused(String file) throws Exception {
    Files.createDirectories(directory.resolve(file).getParent());
    Files.writeString(directory.resolve(file), "content");
    assertThat(
        refusal(IllegalStateException.class, "--checkpointDir=" + directory),
        allOf(
            containsString("holds " + file.split("/", 2)[0]),
            containsString("not a checkpoint of this runner")));
  }

  @Test
  void aDirectoryWithWhatAnInterruptedStartHasLeftIsTaken() throws Exception {
    Files.createDirectory(directory.resolve("beam"));
    for (String left :
        List.of(
            ".beam-write-check-1",
            "..beam-write-check-1.crc",
            "..beam-write-check-1.2.tmp",
            "beam/.plan.3.tmp",
            "beam/..plan.3.tmp.crc")) {
      Files.writeString(directory.resolve(left), "");
    }
    assertThat(
        pipeline("--checkpointDir=" + directory).run().waitUntilFinish(), is(State.DONE));
  }

  @Test
  void anotherMachinesMasterNeedsACheckpointDirectory() {
    Runs.stopSession();
    assertThat(
        refusal(IllegalArgumentException.class, "--sparkMaster=spark://nowhere:7077"),
        containsString("--checkpointDir is not set"));
  }

  @Test
  void noSessionToBeActiveIsRefused() {
    Runs.stopSession();
    assertThat(
        refusal(IllegalStateException.class, "--useActiveSparkSession"),
        containsString("no Spark session is active"));
  }

  @Test
  void theUsersSessionIsUsedAndNeverStopped() {
    Runs.stopSession();
    SparkSession users = SparkSession.builder().master("local[2]").appName("users").getOrCreate();
    try {
      assertThat(
          pipeline("--useActiveSparkSession", "--testMode=false").run().waitUntilFinish(),
          is(State.DONE));
      assertThat(pipeline("--testMode=false").run().waitUntilFinish(), is(State.DONE));
      assertThat(users.sparkContext().isStopped(), is(false));
    } finally {
      users.stop();
    }
  }

  @Test
  void theRunnersOwnSessionIsStoppedWithItsLastPipeline() {
    Runs.stopSession();
    SparkStructuredStreamingPipelineResult result = Runs.start(pipeline("--testMode=false"));
    SparkSession session = result.query().sparkSession();
    result.waitUntilFinish();
    assertThat(session.sparkContext().isStopped(), is(true));
  }

  @Test
  void aFileInTheCheckpointsPlaceIsRefused() throws Exception {
    Path file = Files.writeString(directory.resolve("file"), "in the way");
    for (Path place : List.of(file, file.resolve("below"), file.resolve("far/below"))) {
      assertThat(
          refusal(IllegalStateException.class, "--checkpointDir=" + place),
          allOf(
              containsString("The checkpoint directory " + place + " cannot be written"),
              containsString("a file is in the way, file:" + file + ","),
              containsString("Set --checkpointDir to")));
    }
    assertThat(Files.readString(file), is("in the way"));
  }

  @Test
  void theCheckpointOfAPlainQueryIsRefused() throws Exception {
    pipeline().run().waitUntilFinish();
    Path checkpoint = directory.resolve("plain");
    StreamingQuery query =
        Runs.session()
            .readStream()
            .format("rate")
            .load()
            .writeStream()
            .format("noop")
            .option("checkpointLocation", checkpoint.toString())
            .start();
    query.processAllAvailable();
    query.stop();
    assertThat(
        refusal(IllegalStateException.class, "--checkpointDir=" + checkpoint),
        containsString("it is not a checkpoint of this runner"));
  }

  @Test
  void aDirectoryWithOtherFilesIsRefused() throws Exception {
    Files.writeString(directory.resolve("other"), "file");
    assertThat(
        refusal(IllegalStateException.class, "--checkpointDir=" + directory),
        allOf(containsString("holds other"), containsString("not a checkpoint of this runner")));
    assertThat(Files.exists(directory.resolve("beam")), is(false));
  }

  @Test
  void theCheckpointOfAnotherPipelineIsRefused() {
    pipeline("--checkpointDir=" + directory).run().waitUntilFinish();
    Pipeline other = Pipeline.create(Runs.options("--checkpointDir=" + directory));
    other
        .apply("Others", Read.from(Feed.of(1).source()))
        .apply(Window.into(FixedWindows.of(Duration.millis(1))))
        .apply(Count.perElement());
    IllegalStateException refused = assertThrows(IllegalStateException.class, other::run);
    assertThat(
        refused.getMessage(),
        allOf(containsString("cannot go on with"), containsString("another --checkpointDir")));
  }

  @Test
  void aDamagedPlanFileIsRefused() throws Exception {
    pipeline("--checkpointDir=" + directory).run().waitUntilFinish();
    Files.deleteIfExists(directory.resolve("beam/.plan.crc"));
    Files.writeString(directory.resolve("beam/plan"), "nonsense");
    assertThat(
        refusal(IllegalStateException.class, "--checkpointDir=" + directory),
        allOf(containsString("beam/plan"), containsString("damaged")));
  }

  @Test
  void helpPrintsEveryOptionWithItsDescription() {
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    PipelineOptionsFactory.printHelp(
        new PrintStream(printed, true, StandardCharsets.UTF_8),
        SparkStructuredStreamingPipelineOptions.class);
    String help = printed.toString(StandardCharsets.UTF_8);
    List<String> lines = help.lines().map(String::strip).toList();
    for (Method setter : SparkStructuredStreamingPipelineOptions.class.getDeclaredMethods()) {
      if (setter.getName().startsWith("set")) {
        assertIsDescribed(optionOf(setter), lines);
      }
    }
  }

  private static String optionOf(Method setter) {
    String name = setter.getName().substring("set".length());
    return "--" + Character.toLowerCase(name.charAt(0)) + name.substring(1);
  }

  /** The option's line is followed by that of its default, if there is one, and its description. */
  private static void assertIsDescribed(String option, List<String> lines) {
    int line = 0;
    while (line < lines.size() && !lines.get(line).startsWith(option + "=")) {
      line++;
    }
    assertThat(option + " is printed", line < lines.size(), is(true));
    int description = lines.get(line + 1).startsWith("Default:") ? line + 2 : line + 1;
    String text = lines.get(description);
    assertThat(option + " has a description", text.isEmpty() || text.startsWith("--"), is(false));
  }

  @Test
  void theRunnerIsFoundByName() {
    Class<? extends PipelineRunner<?>> found = Runs.options().getRunner();
    assertThat(found, is((Object) SparkStructuredStreamingRunner.class));
    assertThat(
        PipelineRunner.fromOptions(Runs.options()) instanceof SparkStructuredStreamingRunner, is(true));
  }
}
