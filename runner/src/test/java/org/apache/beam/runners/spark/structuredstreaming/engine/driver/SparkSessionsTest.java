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

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.allOf;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.endsWith;
import static org.hamcrest.Matchers.greaterThan;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.startsWith;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.SparkStructuredStreamingPipelineOptions;
import org.apache.beam.sdk.options.PipelineOptionsFactory;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a new session is configured with. */
class SparkSessionsTest {
  private static final String REMOTE = "spark://nowhere:7077";

  @TempDir Path directory;

  private static SparkStructuredStreamingPipelineOptions options(String master) {
    SparkStructuredStreamingPipelineOptions options =
        PipelineOptionsFactory.fromArgs("--jobName=the-given-name", "--checkpointDir=/x")
            .as(SparkStructuredStreamingPipelineOptions.class);
    options.setSparkMaster(master);
    return options;
  }

  private static SparkConf conf(SparkStructuredStreamingPipelineOptions options) {
    return SparkSessions.conf(new SparkConf(false), options);
  }

  @Test
  void aLocalMasterHasTheClassPathAnyway() {
    SparkConf conf = conf(options("local[2]"));
    assertThat(conf.contains("spark.jars"), is(false));
    assertThat(conf.get("spark.master"), is("local[2]"));
    assertThat(conf.get("spark.app.name"), is("the-given-name"));
  }

  @Test
  void anotherMasterGetsTheClassPath() {
    List<String> jars = List.of(conf(options(REMOTE)).get("spark.jars").split(","));
    assertThat(jars.size(), greaterThan(10));
    assertThat(jars.stream().allMatch(jar -> Files.isRegularFile(Path.of(jar))), is(true));
  }

  @Test
  void anEmptyListStagesNothing() {
    SparkStructuredStreamingPipelineOptions options = options(REMOTE);
    options.setFilesToStage(List.of());
    assertThat(conf(options).contains("spark.jars"), is(false));
  }

  @Test
  void aDirectoryIsZippedOnThisMachineWhateverTheTempLocation() throws Exception {
    Files.writeString(directory.resolve("Some.class"), "content");
    SparkStructuredStreamingPipelineOptions options = options(REMOTE);
    options.setTempLocation("hdfs://nowhere/tmp");
    options.setFilesToStage(List.of(directory.toString()));
    String jar = conf(options).get("spark.jars");
    assertThat(
        jar, allOf(startsWith(System.getProperty("java.io.tmpdir")), endsWith(".jar")));
    assertThat(Files.size(Path.of(jar)), greaterThan(0L));
  }

  /** Its executors are other processes, which start in directories of their own. */
  @Test
  void aLocalClusterGetsTheClassPathByAbsolutePaths() throws Exception {
    String master = "local-cluster[2,1,1024]";
    List<String> whole =
        List.of(conf(options(master)).get("spark.executor.extraClassPath").split(File.pathSeparator));
    assertThat(whole.size(), greaterThan(10));
    assertThat(whole.stream().allMatch(path -> new File(path).isAbsolute()), is(true));

    SparkStructuredStreamingPipelineOptions options = options(master);
    Path relative = Path.of("").toAbsolutePath().relativize(directory);
    options.setFilesToStage(List.of(relative.toString()));
    String path = conf(options).get("spark.executor.extraClassPath");
    assertThat(Path.of(path).isAbsolute(), is(true));
    assertThat(Path.of(path).toRealPath(), is(directory.toRealPath()));
    assertThat(conf(options).contains("spark.jars"), is(false));

    SparkConf given = new SparkConf(false).set("spark.executor.extraClassPath", "/given");
    assertThat(
        SparkSessions.conf(given, options).get("spark.executor.extraClassPath"), is("/given"));
    options.setFilesToStage(List.of());
    assertThat(conf(options).contains("spark.executor.extraClassPath"), is(false));
  }

  @Test
  void aNamedFileThatIsNotThereIsRefused() {
    for (String master : List.of(REMOTE, "local-cluster[2,1,1024]")) {
      SparkStructuredStreamingPipelineOptions options = options(master);
      options.setFilesToStage(List.of(directory.toString(), directory + "/missing.jar"));
      String message =
          assertThrows(IllegalArgumentException.class, () -> conf(options)).getMessage();
      assertThat(message, containsString("--filesToStage names " + directory + "/missing.jar"));
    }
  }

  @Test
  void whatSparkSubmitHasSetWins() {
    SparkConf submitted =
        new SparkConf(false)
            .set("spark.master", "local[7]")
            .set("spark.app.name", "submitted");
    SparkConf conf = SparkSessions.conf(submitted, options(REMOTE));
    assertThat(conf.get("spark.master"), is("local[7]"));
    assertThat(conf.get("spark.app.name"), is("submitted"));
  }
}
