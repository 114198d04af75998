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

import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineOptions;
import org.apache.beam.runners.spark.structuredstreaming.engine.files.EngineFileManager;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkContext$;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.internal.SQLConf;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Option;

/**
 * The Spark session that pipelines run in.
 *
 * <ul>
 *   <li>With {@code useActiveSparkSession} the user's active one.
 *   <li>Otherwise the runner's own, which all pipelines of the JVM share and which is stopped when
 *       the last of them ends.
 *   <li>Spark allows one application in a JVM: where the user's code has started it, its session is
 *       used as with the option. What the runner has not made it never stops.
 * </ul>
 */
final class SparkSessions {
  private static final Logger LOG = LoggerFactory.getLogger(SparkSessions.class);

  private static SparkSession own;
  private static int users;

  private SparkSessions() {}

  /** The session for a pipeline; every call needs a {@link #release}. */
  static synchronized SparkSession acquire(SparkStructuredStreamingPipelineOptions options) {
    if (options.getUseActiveSparkSession()) {
      SparkSession active = active();
      countUser(active);
      return active;
    }
    if (own == null || own.sparkContext().isStopped()) {
      own = null;
      users = 0;
      Option<SparkContext> running = SparkContext$.MODULE$.getActive();
      if (running.isDefined() && !running.get().isStopped()) {
        LOG.warn(
            "Pipeline {} runs in the Spark application {} that this JVM has already, on {};"
                + " --sparkMaster={} is ignored",
            options.getJobName(),
            running.get().appName(),
            running.get().master(),
            options.getSparkMaster());
        return SparkSession.builder().sparkContext(running.get()).getOrCreate();
      }
      own = create(options);
    }
    countUser(own);
    return own;
  }

  /** Ends a pipeline's use of its session. */
  static synchronized void release(
      SparkSession session, SparkStructuredStreamingPipelineOptions options) {
    if (own == null || session.sparkContext() != own.sparkContext()) {
      return;
    }
    users--;
    if (users == 0 && !options.isTestMode()) {
      own.stop();
      own = null;
    }
  }

  /** A session of the runner's own must not be stopped under a pipeline that found it active. */
  private static void countUser(SparkSession session) {
    if (own != null && session.sparkContext() == own.sparkContext()) {
      users++;
    }
  }

  private static SparkSession active() {
    Option<SparkSession> active = SparkSession.getActiveSession();
    if (active.isEmpty() || active.get().sparkContext().isStopped()) {
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
    SparkConf conf = conf(new SparkConf(), options);
    try {
      return SparkSession.builder().config(conf).getOrCreate();
    } catch (Exception e) {
      // Spark declares nothing and throws its checked exception.
      throw new IllegalStateException(
          "No Spark session can be made on the master " + conf.get("spark.master") + ": "
              + e.getMessage()
              + ". Check --sparkMaster and that the master can be reached.",
          e);
    }
  }

  /**
   * What the options say of a new session, where {@code conf} says nothing already.
   *
   * @param conf what spark-submit and system properties have set
   */
  static SparkConf conf(SparkConf conf, SparkStructuredStreamingPipelineOptions options) {
    if (!conf.contains("spark.master")) {
      conf.setMaster(options.getSparkMaster());
    }
    if (!conf.contains("spark.app.name")) {
      conf.setAppName(options.getJobName());
    }
    String master = conf.get("spark.master");
    if (options.getCheckpointDir() == null) {
      requireLocal(master);
    }
    String fileManager = SQLConf.STREAMING_CHECKPOINT_FILE_MANAGER_CLASS().parent().key();
    if (!conf.contains(fileManager)) {
      conf.set(fileManager, EngineFileManager.class.getName());
    }
    StagedFiles.configure(conf, master, options);
    return conf;
  }

  /**
   * Checks that a directory of this machine would do as a checkpoint: it does for {@code local[...]}
   * and for the processes of {@code local-cluster[...]}.
   *
   * @throws IllegalArgumentException if the executors run on other machines
   */
  static void requireLocal(String master) {
    if (!master.startsWith("local")) {
      throw new IllegalArgumentException(
          "--checkpointDir is not set, and on the master " + master
              + " a local directory would not reach the executors. Set it to a directory on a file"
              + " system that driver and executors share.");
    }
  }
}
