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

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.is;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.runners.spark.structuredstreaming.testing.Await;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.PipelineResult.State;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.coders.VarIntCoder;
import org.apache.beam.sdk.io.BoundedSource;
import org.apache.beam.sdk.io.Read;
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.transforms.Create;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.GroupByKey;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.values.KV;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** How far a batch pipeline is can be seen, and it can be cancelled at any time. */
@Timeout(180)
class BatchProgressTest {
  @RegisterExtension static final TestSpark SPARK = TestSpark.on("local[2]");

  private static CountDownLatch entered;
  private static CountDownLatch goOn;

  @BeforeEach
  void close() {
    entered = new CountDownLatch(1);
    goOn = new CountDownLatch(1);
  }

  private static SparkStructuredStreamingPipelineResult startGrouping(String... more) {
    List<String> options = new ArrayList<>(List.of("--streaming=false", "--jobName=grouping"));
    Collections.addAll(options, more);
    Pipeline pipeline = Pipeline.create(SPARK.options(options.toArray(String[]::new)));
    pipeline
        .apply("Numbers", Create.of(KV.of("a", 1), KV.of("a", 2)))
        .apply("Group", GroupByKey.create())
        .apply("Wait", ParDo.of(new WaitFn()));
    return (SparkStructuredStreamingPipelineResult) pipeline.run();
  }

  @Test
  void stagesHaveTheNamesOfSteps() throws Exception {
    List<String> names = Collections.synchronizedList(new ArrayList<>());
    SparkListener listener =
        new SparkListener() {
          @Override
          public void onStageSubmitted(SparkListenerStageSubmitted stage) {
            names.add(stage.stageInfo().name());
          }
        };
    SPARK.session().sparkContext().addSparkListener(listener);
    try {
      goOn.countDown();
      assertThat(startGrouping().waitUntilFinish(), is(State.DONE));
      SPARK.session().sparkContext().listenerBus().waitUntilEmpty(60_000);
    } finally {
      SPARK.session().sparkContext().removeSparkListener(listener);
    }
    assertThat(
        names, contains("Numbers/Read(CreateSource)", "Group", "End of grouping"));
  }

  @Test
  void theLineSaysWhatIsDoneAndRunning() throws Exception {
    PrintStream before = System.err;
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    System.setErr(new PrintStream(printed, true, StandardCharsets.UTF_8));
    try {
      SparkStructuredStreamingPipelineResult result = startGrouping("--progress=true", "--parallelism=1");
      entered.await();
      String line = "grouping: 1 of 2 levels done, running Group 0/1";
      Await.until(line, () -> printed.toString(StandardCharsets.UTF_8).contains(line), printed::toString);
      goOn.countDown();
      assertThat(result.waitUntilFinish(), is(State.DONE));
    } finally {
      System.setErr(before);
    }
    assertThat(printed.toString(StandardCharsets.UTF_8), containsString(System.lineSeparator()));
  }

  @Test
  void withoutTheOptionNothingIsWritten() throws Exception {
    PrintStream before = System.err;
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    System.setErr(new PrintStream(printed, true, StandardCharsets.UTF_8));
    try {
      goOn.countDown();
      assertThat(startGrouping("--progress=false").waitUntilFinish(), is(State.DONE));
    } finally {
      System.setErr(before);
    }
    assertThat(printed.toString(StandardCharsets.UTF_8).contains("levels done"), is(false));
  }

  /** The pipeline is told to stop when its job is not there yet: nothing is found to be cancelled. */
  @Test
  void aPipelineIsCancelledBeforeItsJobHasStarted() throws Exception {
    Pipeline pipeline = Pipeline.create(SPARK.options("--streaming=false", "--jobName=early"));
    pipeline.apply("Slow", Read.from(new SlowSplit())).apply("Endless", ParDo.of(new EndlessFn()));
    SparkStructuredStreamingPipelineResult result =
        (SparkStructuredStreamingPipelineResult) pipeline.run();
    entered.await();
    assertThat(result.cancel(), is(State.CANCELLED));
    goOn.countDown();
    assertThat(result.waitUntilFinish(), is(State.CANCELLED));
  }

  private static void await() {
    try {
      entered.countDown();
      goOn.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** Holds the pipeline up in its last level. */
  static final class WaitFn extends DoFn<KV<String, Iterable<Integer>>, Void> {
    @ProcessElement
    public void process() {
      BatchProgressTest.await();
    }
  }

  /** Would go on for ever. */
  static final class EndlessFn extends DoFn<Integer, Integer> {
    @ProcessElement
    public void process(@Element Integer element, OutputReceiver<Integer> out)
        throws InterruptedException {
      new CountDownLatch(1).await();
    }
  }

  /** Holds the pipeline up before it has a job. */
  static final class SlowSplit extends BoundedSource<Integer> {
    @Override
    public List<SlowSplit> split(long desiredBundleSizeBytes, PipelineOptions options) {
      BatchProgressTest.await();
      return List.of(this);
    }

    @Override
    public long getEstimatedSizeBytes(PipelineOptions options) {
      return 1;
    }

    @Override
    public Coder<Integer> getOutputCoder() {
      return VarIntCoder.of();
    }

    @Override
    public BoundedReader<Integer> createReader(PipelineOptions options) {
      return new OneElement(this);
    }
  }

  private static final class OneElement extends BoundedSource.BoundedReader<Integer> {
    private final SlowSplit source;

    OneElement(SlowSplit source) {
      this.source = source;
    }

    @Override
    public boolean start() {
      return true;
    }

    @Override
    public boolean advance() {
      return false;
    }

    @Override
    public Integer getCurrent() {
      return 1;
    }

    @Override
    public void close() {}

    @Override
    public SlowSplit getCurrentSource() {
      return source;
    }
  }
}
