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

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorded;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorder;
import org.apache.beam.runners.spark.structuredstreaming.testing.RestartHarness;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.sdk.Pipeline;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * What tests of Beam's file IOs have in common: both engines on two cores, and a folder for the output
 * of which {@link FolderContents} knows every file that is left, hidden ones too.
 */
abstract class FileCase {
  @RegisterExtension static final TestSpark SPARK = TestSpark.on("local[2]");

  /** The engine that runs a pipeline of bounded collections. */
  enum Engine {
    BATCH,
    STREAMING
  }

  @TempDir Path directory;
  Recorder recorder;
  private int runs;

  @BeforeEach
  void makeRecorder() {
    recorder = new Recorder(directory.resolve("recorder"));
  }

  /** The folder that pipelines write to. */
  Path out() {
    return directory.resolve("out");
  }

  /** A path below {@link #out}, as IOs take it. */
  String out(String name) {
    return out().resolve(name).toString();
  }

  /** What is below {@link #out}. */
  FolderContents written() {
    return FolderContents.of(out());
  }

  /** A harness of pipelines in two partitions, each with a checkpoint of its own. */
  RestartHarness harness(Engine engine, Consumer<Pipeline> build) {
    return new RestartHarness(
        SPARK,
        directory.resolve("checkpoint-" + runs++),
        build,
        "--parallelism=2",
        "--streaming=" + (engine == Engine.STREAMING),
        "--maxRestarts=0");
  }

  /** Runs a pipeline to its end. */
  void run(Engine engine, Consumer<Pipeline> build) {
    harness(engine, build).runToTheEnd();
  }

  /** Everything that passed a recorder, with its repetitions, sorted: no task of these tests fails. */
  List<String> recorded(String name) {
    return recorder.all(name).stream().map(Recorded::value).sorted().toList();
  }

  /** {@code count} lines that differ, sorted. */
  static List<String> lines(int count) {
    return IntStream.range(0, count).mapToObj(n -> String.format("line %05d", n)).toList();
  }

  /** Writes a text file, and the folders it is in. */
  static void write(Path file, String text) throws IOException {
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }
}
