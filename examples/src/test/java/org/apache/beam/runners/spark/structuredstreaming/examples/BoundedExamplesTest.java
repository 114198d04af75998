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
package org.apache.beam.runners.spark.structuredstreaming.examples;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.is;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.apache.avro.file.DataFileReader;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericRecord;
import org.apache.beam.sdk.Pipeline.PipelineExecutionException;
import org.apache.beam.sdk.PipelineResult.State;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The bounded examples from their input files to their output files. */
class BoundedExamplesTest {
  private static final String MASTER = "--sparkMaster=local[2]";

  @TempDir Path directory;

  @Test
  void wordCountCountsPlainAndCompressedFiles() throws IOException {
    Files.writeString(directory.resolve("a.txt"), "to be or not\nto be übt 日本\n");
    try (OutputStream compressed =
        new GZIPOutputStream(Files.newOutputStream(directory.resolve("b.txt.gz")))) {
      compressed.write("not to, be\n".getBytes(StandardCharsets.UTF_8));
    }
    assertThat(
        WordCount.run(
            MASTER, "--text=" + directory + "/*.txt*", "--counts=" + directory + "/out/counts"),
        is(State.DONE));
    Map<String, Integer> expected = new TreeMap<>();
    for (String word : "to be or not to be übt 日本 not to be".split(" ", -1)) {
      expected.merge(word, 1, Integer::sum);
    }
    List<String> lines = new ArrayList<>();
    expected.forEach((word, count) -> lines.add(word + ": " + count));
    assertThat(lines("out", "counts"), equalTo(lines));
  }

  @Test
  void customerTotalsJoinsAndKeepsWhatHasNoCustomer() throws IOException {
    assertThat(totals("src/main/data/customers.csv", "src/main/data/orders.csv"), is(State.DONE));
    List<String> totals = new ArrayList<>();
    for (Path file : files("out", "totals")) {
      try (DataFileReader<GenericRecord> records =
          new DataFileReader<>(file.toFile(), new GenericDatumReader<>())) {
        records.forEach(record -> totals.add(record.toString()));
      }
    }
    Collections.sort(totals);
    assertThat(
        totals,
        equalTo(
            List.of(
                total("c1", "Ada", "GB", 2, 1325),
                total("c2", "Grace", "US", 2, 400),
                total("c3", "Edsger", "NL", 1, 10000),
                total("c4", "Barbara", "US", 0, 0))));
    assertThat(lines("out", "without-customer"), equalTo(List.of("o5,c9,500")));
  }

  @Test
  void aLineOfAnotherFormIsNamed() throws IOException {
    Path orders = Files.writeString(directory.resolve("orders.csv"), "o1,c1,many\n");
    PipelineExecutionException failure =
        assertThrows(
            PipelineExecutionException.class,
            () -> totals("src/main/data/customers.csv", orders.toString()));
    assertThat(failure.getMessage(), containsString("'o1,c1,many' has 'many' for cents"));
    assertThat(files("out", "totals"), equalTo(List.of()));
  }

  private State totals(String customers, String orders) {
    return CustomerTotals.run(
        MASTER,
        "--customers=" + customers,
        "--orders=" + orders,
        "--totals=" + directory + "/out");
  }

  private static String total(String customer, String name, String country, long orders, long cents) {
    return "{\"customer\": \"" + customer + "\", \"name\": \"" + name + "\", \"country\": \"" + country
        + "\", \"orders\": " + orders + ", \"cents\": " + cents + "}";
  }

  private List<String> lines(String output, String prefix) throws IOException {
    List<String> lines = new ArrayList<>();
    for (Path file : files(output, prefix)) {
      lines.addAll(Files.readAllLines(file));
    }
    Collections.sort(lines);
    return lines;
  }

  private List<Path> files(String output, String prefix) throws IOException {
    Path files = directory.resolve(output);
    if (!Files.isDirectory(files)) {
      return List.of();
    }
    try (Stream<Path> listed = Files.list(files)) {
      return listed
          .filter(file -> file.getFileName().toString().startsWith(prefix))
          .sorted()
          .toList();
    }
  }
}
