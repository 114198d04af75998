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

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * The pipelines of this driver: those that run, of which no two have the same name or checkpoint
 * directory, and the last {@value #MAX_ENDED} that have ended, with how and why. Any thread may ask.
 */
public final class PipelineRegistry {
  static final int MAX_ENDED = 100;

  private static final Map<String, RunningPipeline> RUNNING = new LinkedHashMap<>();
  private static final Deque<PipelineSnapshot> ENDED = new ArrayDeque<>();

  private PipelineRegistry() {}

  /** Pipelines that have not ended, in the order of their start. */
  public static List<PipelineSnapshot> running() {
    synchronized (RUNNING) {
      return RUNNING.values().stream().map(RunningPipeline::snapshot).toList();
    }
  }

  /** The last pipelines that have ended, in the order of their ends. */
  public static List<PipelineSnapshot> ended() {
    synchronized (RUNNING) {
      return List.copyOf(ENDED);
    }
  }

  /**
   * The pipeline of a name, query id or run id: the running one, or else the last that has ended.
   */
  public static Optional<PipelineSnapshot> find(String nameOrId) {
    List<PipelineSnapshot> latestFirst = new ArrayList<>();
    synchronized (RUNNING) {
      latestFirst.addAll(running());
      for (Iterator<PipelineSnapshot> each = ENDED.descendingIterator(); each.hasNext(); ) {
        latestFirst.add(each.next());
      }
    }
    return latestFirst.stream()
        .filter(
            pipeline ->
                Stream.of(pipeline.name(), pipeline.id(), pipeline.runId())
                    .anyMatch(nameOrId::equals))
        .findFirst();
  }

  /**
   * Makes room for a pipeline.
   *
   * @throws IllegalStateException if a running one has the name or the checkpoint directory
   */
  static void claim(RunningPipeline pipeline) {
    synchronized (RUNNING) {
      for (RunningPipeline other : RUNNING.values()) {
        if (other.name().equals(pipeline.name())) {
          throw new IllegalStateException(
              "A pipeline named " + pipeline.name() + " is running already. Set another --jobName,"
                  + " or cancel the running one.");
        }
        if (pipeline.checkpointIdentity() != null
            && pipeline.checkpointIdentity().equals(other.checkpointIdentity())) {
          throw new IllegalStateException(
              "The checkpoint directory "
                  + pipeline.snapshot().checkpointLocation()
                  + " is in use by the running"
                  + " pipeline " + other.name() + ". Set another --checkpointDir, or cancel that one.");
        }
      }
      RUNNING.put(pipeline.name(), pipeline);
    }
  }

  /**
   * Takes note of whose checkpoint a pipeline goes on with. A copy of a directory is the same
   * checkpoint: its query has the same id, and Spark would end the one for the other.
   *
   * @throws IllegalStateException if a running pipeline has a copy of the checkpoint
   */
  static void claimCheckpoint(StreamingPipeline pipeline, UUID checkpointId) {
    synchronized (RUNNING) {
      for (RunningPipeline other : RUNNING.values()) {
        if (other instanceof StreamingPipeline running
            && checkpointId.equals(running.checkpointId())) {
          throw new IllegalStateException(
              "The checkpoint " + pipeline.checkpointLocation() + " is a copy of "
                  + running.checkpointLocation() + ", or that one of it, with which the pipeline "
                  + running.name() + " runs in this driver: Spark takes the two for one query. Cancel that"
                  + " pipeline, or start this one in a driver of its own.");
        }
      }
      pipeline.setCheckpointId(checkpointId);
    }
  }

  /** Takes note of a pipeline's end. */
  static void ended(RunningPipeline pipeline) {
    synchronized (RUNNING) {
      if (RUNNING.remove(pipeline.name(), pipeline)) {
        ENDED.addLast(pipeline.snapshot());
        if (ENDED.size() > MAX_ENDED) {
          ENDED.removeFirst();
        }
      }
    }
  }

  /** Lets go of a pipeline that could not be started. */
  static void release(RunningPipeline pipeline) {
    synchronized (RUNNING) {
      RUNNING.remove(pipeline.name(), pipeline);
    }
  }
}
