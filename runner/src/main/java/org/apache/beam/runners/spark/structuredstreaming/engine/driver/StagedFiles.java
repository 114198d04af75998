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

import java.io.File;
import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineOptions;
import org.apache.beam.sdk.util.construction.resources.PipelineResources;
import org.apache.spark.SparkConf;

/**
 * How the class path comes to the executors: {@code filesToStage} where that is set, an empty list
 * meaning none, and else the class path of this JVM.
 *
 * <ul>
 *   <li>{@code local[...]}: the executor is this JVM and has it.
 *   <li>{@code local-cluster[...]}: executors are other processes, in working directories of their
 *       own, on this machine. They get it as their own class path, by absolute paths.
 *   <li>other masters: by {@code spark.jars}, which Spark copies; directories are zipped into the
 *       local temporary directory.
 * </ul>
 */
final class StagedFiles {
  private static final String LOCAL_CLUSTER = "local-cluster";
  private static final String EXECUTOR_CLASS_PATH = "spark.executor.extraClassPath";

  private StagedFiles() {}

  /**
   * Adds to the session's configuration what brings the files to its executors.
   *
   * @throws IllegalArgumentException if {@code filesToStage} names a file that is not there
   */
  static void configure(
      SparkConf conf, String master, SparkStructuredStreamingPipelineOptions options) {
    if (master.startsWith(LOCAL_CLUSTER)) {
      List<String> paths =
          files(options).stream().map(file -> new File(file).getAbsolutePath()).toList();
      if (!paths.isEmpty() && !conf.contains(EXECUTOR_CLASS_PATH)) {
        conf.set(EXECUTOR_CLASS_PATH, String.join(File.pathSeparator, paths));
      }
    } else if (!master.startsWith("local")) {
      List<String> staged =
          PipelineResources.prepareFilesForStaging(
              files(options), System.getProperty("java.io.tmpdir"));
      if (!staged.isEmpty()) {
        String given = conf.get("spark.jars", "");
        String jars = String.join(",", staged);
        conf.set("spark.jars", given.isEmpty() ? jars : given + "," + jars);
      }
    }
  }

  /** Of a class path some entries may not be there; of files that were named all must be. */
  private static List<String> files(SparkStructuredStreamingPipelineOptions options) {
    List<String> named = options.getFilesToStage();
    if (named == null) {
      return PipelineResources.detectClassPathResourcesToStage(
              StagedFiles.class.getClassLoader(), options)
          .stream()
          .filter(file -> new File(file).exists())
          .toList();
    }
    for (String file : named) {
      if (!new File(file).exists()) {
        throw new IllegalArgumentException(
            "--filesToStage names " + file + ", and there is no file or directory "
                + new File(file).getAbsolutePath()
                + ": executors would lack its classes. Correct it, or leave it out.");
      }
    }
    return named;
  }
}
