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
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.hasItem;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.not;
import static org.hamcrest.Matchers.notNullValue;
import static org.hamcrest.Matchers.nullValue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.management.ObjectName;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.PipelineResult.State;
import org.apache.beam.sdk.io.Read;
import org.apache.beam.sdk.transforms.Count;
import org.apache.beam.sdk.transforms.Flatten;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PCollectionList;
import org.apache.spark.sql.streaming.SourceProgress;
import org.apache.spark.sql.streaming.StreamingQueryListener;
import org.apache.spark.sql.streaming.StreamingQueryProgress;
import org.joda.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What an epoch did, as Spark's progress, its listeners and its metrics system tell it. */
class ProgressTest {
  private static final String STEP = "Counts/Combine.perKey(Count)";

  /** Spark's metrics system is configured when a session is made. */
  @BeforeAll
  static void showMetricsInJmx() {
    Runs.stopSession();
    System.setProperty(
        "spark.metrics.conf.*.sink.jmx.class", "org.apache.spark.metrics.sink.JmxSink");
  }

  @AfterAll
  static void forgetJmx() {
    System.clearProperty("spark.metrics.conf.*.sink.jmx.class");
    Runs.stopSession();
  }

  private static SparkStructuredStreamingPipelineResult start(Feed first, Feed second, String name) {
    Pipeline pipeline = Pipeline.create(Runs.options("--jobName=" + name));
    PCollection<Long> one = pipeline.apply("First", Read.from(first.source()));
    PCollection<Long> two = pipeline.apply("Second", Read.from(second.source()));
    PCollectionList.of(one)
        .and(two)
        .apply(Flatten.pCollections())
        .apply(Window.into(FixedWindows.of(Duration.millis(10))))
        .apply("Counts", Count.perElement())
        .apply("Collect", ParDo.of(new Collected<KV<Long, Long>>()));
    return Runs.start(pipeline);
  }

  private static final class Listener extends StreamingQueryListener {
    private final List<StreamingQueryProgress> progress = new CopyOnWriteArrayList<>();

    @Override
    public void onQueryStarted(QueryStartedEvent event) {}

    @Override
    public void onQueryProgress(QueryProgressEvent event) {
      progress.add(event.progress());
    }

    @Override
    public void onQueryTerminated(QueryTerminatedEvent event) {}
  }

  @Test
  void everyEpochTellsOfItsSourcesAndKeyedSteps() throws Exception {
    Feed first = new Feed();
    Feed second = new Feed();
    SparkStructuredStreamingPipelineResult result = start(first, second, "progress.of-two");
    Listener listener = new Listener();
    Runs.session().streams().addListener(listener);
    try {
      first.add(1, 2, 3, 6);
      second.add(5);
      Runs.await("rows are counted", () -> rows(listener, "First") == 4 && rows(listener, "Second") == 1);
      checkJmx(true);
      second.add(25);
      first.add(21).end();
      second.end();
      assertThat(result.waitUntilFinish(), is(State.DONE));
      Runs.await("the last epoch is told", () -> rows(listener, "Second") == 2);
    } finally {
      Runs.session().streams().removeListener(listener);
    }
    assertThat(rows(listener, "First"), is(5L));
    checkJmx(false);
    checkSources(listener);
    checkSteps(listener);
    for (StreamingQueryProgress epoch : listener.progress) {
      assertThat("no stateful operator of Spark's", epoch.stateOperators().length, is(0));
    }
    checkJson(result);
  }

  private static void checkSources(Listener listener) {
    List<Map<String, String>> ofFirst = new ArrayList<>();
    for (StreamingQueryProgress epoch : listener.progress) {
      for (SourceProgress source : epoch.sources()) {
        if (source.description().equals("First") && source.numInputRows() == 4) {
          ofFirst.add(source.metrics());
        }
      }
    }
    if (!ofFirst.isEmpty()) {
      // All four came in one epoch.
      Map<String, String> metrics = ofFirst.get(0);
      assertThat(metrics.get("watermark"), is("1970-01-01T00:00:00.006Z"));
      assertThat(metrics.get("minEventTime"), is("1970-01-01T00:00:00.001Z"));
      assertThat(metrics.get("maxEventTime"), is("1970-01-01T00:00:00.006Z"));
      assertThat(metrics.get("avgEventTime"), is("1970-01-01T00:00:00.003Z"));
      assertThat(metrics.get("backlogBytes"), is("0"));
    }
  }

  private static void checkSteps(Listener listener) {
    long in = 0;
    long out = 0;
    Set<String> numbers = new TreeSet<>();
    for (StreamingQueryProgress epoch : listener.progress) {
      Map<String, String> metrics = epoch.sink().metrics();
      if (metrics.containsKey(STEP + "/rowsIn")) {
        in += Long.parseLong(metrics.get(STEP + "/rowsIn"));
        out += Long.parseLong(metrics.get(STEP + "/rowsOut"));
      }
      metrics.keySet().forEach(key -> numbers.add(key.substring(key.lastIndexOf('/') + 1)));
    }
    assertThat(in, is(7L));
    assertThat(out, is(7L));
    assertThat(
        numbers,
        is(
            Set.of(
                "inputWatermark",
                "outputWatermark",
                "rowsIn",
                "rowsOut",
                "lateRows",
                "stateRows",
                "stateBytes",
                "timeMillis")));
  }

  private static void checkJson(SparkStructuredStreamingPipelineResult result) throws Exception {
    JsonNode json = new ObjectMapper().readTree(result.progressJson());
    assertThat(json.get("name").asText(), is("progress.of-two"));
    assertThat(json.get("sources").size(), is(2));
    assertThat(json.get("sources").get(0).get("description").asText(), is("First"));
    assertThat(json.get("sources").get(0).get("metrics").get("watermark"), notNullValue());
    assertThat(json.get("sink").get("metrics").toString(), containsString(STEP));
    assertThat(result.progress().steps().get(0).fullName(), is(STEP));
  }

  private static void checkJmx(boolean registered) throws Exception {
    List<String> names = new ArrayList<>();
    for (ObjectName name :
        ManagementFactory.getPlatformMBeanServer().queryNames(new ObjectName("metrics:*"), null)) {
      if (name.toString().contains("beam.progress_of-two.pipeline")) {
        names.add(name.toString());
        if (name.toString().contains("source.First.rows")) {
          assertThat(
              ManagementFactory.getPlatformMBeanServer().getAttribute(name, "Value"),
              notNullValue());
        }
      }
    }
    if (registered) {
      assertThat(names, hasItem(containsString(".driver.beam.progress_of-two.pipeline.epoch")));
      assertThat(names, hasItem(containsString("source.First.rows")));
      assertThat(names, hasItem(containsString("step.Counts/Combine_perKey(Count).rowsIn")));
    } else {
      assertThat(names, is(empty()));
    }
  }

  private static long rows(Listener listener, String source) {
    long rows = 0;
    for (StreamingQueryProgress epoch : listener.progress) {
      for (SourceProgress each : epoch.sources()) {
        rows += each.description().equals(source) ? each.numInputRows() : 0;
      }
    }
    return rows;
  }

  @Test
  void thereIsNoProgressBeforeTheFirstEpoch() {
    Feed feed = Feed.of(1).failAt(Feed.Point.SPLIT, () -> new IllegalStateException("no split"));
    Pipeline pipeline = Pipeline.create(Runs.options("--maxRestarts=0"));
    pipeline.apply("Numbers", Read.from(feed.source())).apply("Collect", ParDo.of(new Collected<>()));
    SparkStructuredStreamingPipelineResult result = Runs.start(pipeline);
    assertThat(result.query(), not(nullValue()));
    Runs.await("the end", () -> result.getState() == State.FAILED);
    assertThat(result.progressJson(), nullValue());
    assertThat(result.progress().epoch(), is(-1L));
  }
}
