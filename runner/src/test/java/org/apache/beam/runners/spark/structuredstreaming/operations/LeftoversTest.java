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
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.lessThanOrEqualTo;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineResult;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.PipelineResult.State;
import org.apache.beam.sdk.io.Read;
import org.apache.beam.sdk.transforms.Count;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.spark.SparkEnv;
import org.apache.spark.SparkEnv$;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManager;
import org.joda.time.Duration;
import org.junit.jupiter.api.Test;
import scala.collection.JavaConverters;

/** Twenty pipelines in one session leave nothing of theirs behind. */
class LeftoversTest {
  private static final int PIPELINES = 20;

  private static Feed run() {
    Feed feed = Feed.of(1, 2, 3).end();
    Pipeline pipeline = Pipeline.create(Runs.options());
    pipeline
        .apply("Numbers", Read.from(feed.source()))
        .apply(Window.into(FixedWindows.of(Duration.millis(2))))
        .apply(Count.perElement())
        .apply("Collect", ParDo.of(new Collected<>()));
    SparkStructuredStreamingPipelineResult result = Runs.start(pipeline);
    assertThat(result.waitUntilFinish(), is(State.DONE));
    return feed;
  }

  @Test
  void nothingIsLeftBehind() {
    run();
    SparkSession session = Runs.session();
    int listeners = session.sparkContext().listenerBus().listeners().size();
    int queryListeners = session.streams().listListeners().length;
    Set<String> broadcasts = broadcasts();
    Set<String> threads = threads();
    for (int i = 0; i < PIPELINES; i++) {
      Feed feed = run();
      assertThat(feed.closed(), is(feed.opened()));
    }
    assertThat(session.streams().active().length, is(0));
    assertThat(session.sparkContext().listenerBus().listeners().size(), is(listeners));
    assertThat(session.streams().listListeners().length, is(queryListeners));
    assertThat(session.sparkContext().getPersistentRDDs().size(), is(0));
    Set<String> newBroadcasts = broadcasts();
    newBroadcasts.removeAll(broadcasts);
    assertThat(session.sharedState().cacheManager().isEmpty(), is(true));
    Runs.await("no thread of ours is left", () -> ours(threads()).isEmpty());
    List<String> grown = new ArrayList<>(threads());
    grown.removeAll(threads);
    assertThat(grown.toString(), grown.size(), lessThanOrEqualTo(5));
    assertThat(
        "gauges", SparkEnv.get().metricsSystem().getSourcesByName("beam").size(), is(0));
    assertThat(gauges(), is(empty()));
    // Spark broadcasts every stage's code and lets go of it when it is collected.
    Runs.await(
        "broadcasts of ended pipelines are gone",
        () -> {
          System.gc();
          Set<String> left = broadcasts();
          left.removeAll(broadcasts);
          return left.size() <= 3;
        });
  }

  private static Set<String> ours(Set<String> threads) {
    return threads.stream()
        .filter(name -> name.startsWith("beam-query") || name.startsWith("beam-pipeline")
            || name.startsWith("stream execution"))
        .collect(Collectors.toSet());
  }

  /** All but those of Spark's pools, whose threads come with work and go after a minute. */
  private static Set<String> threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> !thread.getName().startsWith("block-manager-"))
        .map(thread -> thread.getName() + "#" + thread.getId())
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static Set<String> broadcasts() {
    BlockManager blocks = SparkEnv$.MODULE$.get().blockManager();
    List<BlockId> found =
        JavaConverters.seqAsJavaList(blocks.getMatchingBlockIds(id -> id.isBroadcast()));
    return found.stream().map(BlockId::name).collect(Collectors.toCollection(TreeSet::new));
  }

  private static List<String> gauges() {
    return JavaConverters.seqAsJavaList(SparkEnv.get().metricsSystem().getSourcesByName("")).stream()
        .map(source -> source.sourceName())
        .filter(name -> name.startsWith("beam."))
        .toList();
  }
}
