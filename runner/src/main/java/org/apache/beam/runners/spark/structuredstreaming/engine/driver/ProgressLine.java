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

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Timer;
import java.util.TimerTask;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineOptions;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkJobInfo;
import org.apache.spark.SparkStageInfo;
import org.apache.spark.SparkStatusTracker;
import scala.Option;

/**
 * A line on standard error that says how far a batch pipeline is: how many of its levels are done, and
 * which steps are running, with their tasks. It is written over itself twice a second by a thread of
 * its own, and by nobody where it is switched off. Started once, by the thread that closes it.
 */
final class ProgressLine implements AutoCloseable {
  private static final long PERIOD_MILLIS = 500;
  private static final int MOST_CHARACTERS = 110;

  private final SparkStatusTracker tracker;
  private final String jobGroup;
  private final String name;
  private final PrintStream out;
  private final Timer writer;
  private int written;

  /** The line of the jobs of a group, on standard error as it is now, if the options ask for it. */
  ProgressLine(
      SparkStructuredStreamingPipelineOptions options, SparkContext context, String jobGroup) {
    this.tracker = context.statusTracker();
    this.jobGroup = jobGroup;
    this.name = options.getJobName();
    this.out = System.err;
    this.writer = options.isProgress() ? new Timer("beam-progress-" + name, true) : null;
  }

  /** Begins to write. */
  void start(int levels) {
    if (writer != null) {
      writer.schedule(
          new TimerTask() {
            @Override
            public void run() {
              write(text(levels));
            }
          },
          PERIOD_MILLIS,
          PERIOD_MILLIS);
    }
  }

  /** What the line says now. */
  private String text(int levels) {
    int done = 0;
    List<String> running = new ArrayList<>();
    for (SparkStageInfo stage : stages()) {
      if (stage.numTasks() > 0 && stage.numCompletedTasks() == stage.numTasks()) {
        done++;
      } else if (stage.numActiveTasks() > 0) {
        running.add(stage.name() + " " + stage.numCompletedTasks() + "/" + stage.numTasks());
      }
    }
    // The stage behind the last level is none.
    String text = name + ": " + Math.min(done, levels) + " of " + levels + " levels done";
    return running.isEmpty() ? text : text + ", running " + String.join(", ", running);
  }

  private List<SparkStageInfo> stages() {
    List<SparkStageInfo> stages = new ArrayList<>();
    for (int job : tracker.getJobIdsForGroup(jobGroup)) {
      Option<SparkJobInfo> info = tracker.getJobInfo(job);
      if (info.isDefined()) {
        for (int stage : info.get().stageIds()) {
          Option<SparkStageInfo> found = tracker.getStageInfo(stage);
          if (found.isDefined()) {
            stages.add(found.get());
          }
        }
      }
    }
    return stages;
  }

  private synchronized void write(String text) {
    String line = text.length() <= MOST_CHARACTERS ? text : text.substring(0, MOST_CHARACTERS - 3) + "...";
    // What the last line had beyond this one is written over.
    out.print("\r" + line + " ".repeat(Math.max(0, written - line.length())));
    out.flush();
    written = line.length();
  }

  /** Ends the line. */
  @Override
  public synchronized void close() {
    if (writer != null) {
      writer.cancel();
      if (written > 0) {
        out.println();
      }
    }
  }
}
