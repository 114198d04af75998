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
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The pipelines of this driver: those that run, by name and by checkpoint directory, neither of
 * which two may share, and the last ones that have ended, with how and why.
 */
public final class PipelineRegistry {
  private static final int MAX_ENDED = 100;
  private static final Map<String, StreamingPipeline> RUNNING = new LinkedHashMap<>();
  private static final Deque<StreamingPipeline> ENDED = new ArrayDeque<>();

  private PipelineRegistry() {}

  /** Pipelines that have not ended, in the order of their start. */
  public static List<StreamingPipeline> running() {
    synchronized (RUNNING) {
      return List.copyOf(RUNNING.values());
    }
  }

  /** The last pipelines that have ended, in the order of their ends. */
  public static List<StreamingPipeline> ended() {
    synchronized (RUNNING) {
      return List.copyOf(ENDED);
    }
  }

  /**
   * Makes room for a pipeline.
   *
   * @throws IllegalStateException if a running one has the name or the checkpoint directory
   */
  static void claim(StreamingPipeline pipeline) {
    synchronized (RUNNING) {
      for (StreamingPipeline other : RUNNING.values()) {
        if (other.name().equals(pipeline.name())) {
          throw new IllegalStateException(
              "A pipeline named " + pipeline.name() + " is running already. Set another --jobName,"
                  + " or cancel the running one.");
        }
        if (other.checkpointLocation().equals(pipeline.checkpointLocation())) {
          throw new IllegalStateException(
              "The checkpoint directory " + pipeline.checkpointLocation() + " is in use by the running"
                  + " pipeline " + other.name() + ". Set another --checkpointDir, or cancel that one.");
        }
      }
      RUNNING.put(pipeline.name(), pipeline);
    }
  }

  /** Takes note of a pipeline's end. */
  static void ended(StreamingPipeline pipeline) {
    synchronized (RUNNING) {
      if (RUNNING.remove(pipeline.name(), pipeline)) {
        ENDED.addLast(pipeline);
        if (ENDED.size() > MAX_ENDED) {
          ENDED.removeFirst();
        }
      }
    }
  }

  /** Lets go of a pipeline that could not be started. */
  static void release(StreamingPipeline pipeline) {
    synchronized (RUNNING) {
      RUNNING.remove(pipeline.name(), pipeline);
    }
  }
}
