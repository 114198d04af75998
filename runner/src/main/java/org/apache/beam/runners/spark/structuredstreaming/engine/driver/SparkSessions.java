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

import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineOptions;
import org.apache.spark.SparkConf;
import org.apache.spark.sql.SparkSession;

/**
 * The Spark session that pipelines run in: the user's active one, or the runner's own, which is
 * shared by all pipelines of the JVM and stopped when the last of them ends.
 */
final class SparkSessions {
  private static SparkSession own;
  private static int users;

  private SparkSessions() {}

  /** The session for a pipeline; every call but for an active session needs a {@link #release}. */
  static synchronized SparkSession acquire(SparkStructuredStreamingPipelineOptions options) {
    if (options.getUseActiveSparkSession()) {
      return active();
    }
    if (own == null || own.sparkContext().isStopped()) {
      own = create(options);
      users = 0;
    }
    users++;
    return own;
  }

  /** Ends a pipeline's use of its session. */
  static synchronized void release(
      SparkSession session, SparkStructuredStreamingPipelineOptions options) {
    if (options.getUseActiveSparkSession() || session != own) {
      return;
    }
    users--;
    if (users == 0 && !options.isTestMode()) {
      own.stop();
      own = null;
    }
  }

  private static SparkSession active() {
    scala.Option<SparkSession> active = SparkSession.getActiveSession();
    if (active.isEmpty()) {
      active = SparkSession.getDefaultSession();
    }
    if (active.isEmpty() || active.get().sparkContext().isStopped()) {
      throw new IllegalStateException(
          "--useActiveSparkSession is set, but no Spark session is active in this JVM. Create one"
              + " before the pipeline is run, or leave the option out.");
    }
    return active.get();
  }

  private static SparkSession create(SparkStructuredStreamingPipelineOptions options) {
    SparkConf conf = new SparkConf();
    if (!conf.contains("spark.master")) {
      conf.setMaster(options.getSparkMaster());
    }
    if (!conf.contains("spark.app.name")) {
      String name = options.getAppName();
      conf.setAppName(name == null ? options.getJobName() : name);
    }
    List<String> staged = StagedFiles.of(conf.get("spark.master"), options);
    if (!staged.isEmpty()) {
      conf.set("spark.jars", String.join(",", staged));
    }
    return SparkSession.builder().config(conf).getOrCreate();
  }
}
