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
package org.apache.beam.runners.spark.structuredstreaming.files;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.apache.beam.runners.spark.structuredstreaming.testing.WaitPoints;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.options.PipelineOptionsFactory;

/** A batch that writes files, to be killed in a JVM of its own: see {@link FilesDriverKilledTest}. */
final class FilesProgram {
  static final List<String> LINES = FileCase.lines(400);

  /** The line before which the program waits, with files of earlier lines half written. */
  static final String LINE = "line 00390";

  /** The file before whose name the program waits. */
  static final String NAME = WindowedDestinations.name("d3", 100);

  private FilesProgram() {}

  /**
   * Runs the pipeline to its end.
   *
   * @param arguments folder of the output, folder of the waiting points
   */
  public static void main(String[] arguments) {
    Path out = Path.of(arguments[0]);
    WaitPoints points = new WaitPoints(Path.of(arguments[1]));
    Pipeline pipeline =
        Pipeline.create(
            PipelineOptionsFactory.fromArgs(
                    "--runner=SparkStructuredStreamingRunner",
                    "--sparkMaster=local[2]",
                    "--parallelism=2")
                .create());
    WindowedDestinations.write(
        pipeline, LINES, out, points.gate(Set.of(LINE)), points.gate(Set.of(NAME)));
    pipeline.run().waitUntilFinish();
  }
}
