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

/**
 * Which files of the class path go to the executors. A local master has them anyway. For others it
 * is {@code filesToStage} where that is set, an empty list meaning none, and else the class path;
 * directories are zipped into the local temporary directory.
 */
final class StagedFiles {
  private StagedFiles() {}

  static List<String> of(String master, SparkStructuredStreamingPipelineOptions options) {
    if (master.startsWith("local")) {
      return List.of();
    }
    List<String> files = options.getFilesToStage();
    if (files == null) {
      files =
          PipelineResources.detectClassPathResourcesToStage(
              StagedFiles.class.getClassLoader(), options);
    }
    List<String> existing = files.stream().filter(file -> new File(file).exists()).toList();
    return PipelineResources.prepareFilesForStaging(
        existing, System.getProperty("java.io.tmpdir"));
  }
}
