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
package org.apache.beam.runners.spark.structuredstreaming.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.state.BagState;
import org.apache.beam.sdk.state.StateSpec;
import org.apache.beam.sdk.state.StateSpecs;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.PTransform;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.WithKeys;
import org.apache.beam.sdk.transforms.windowing.GlobalWindows;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PDone;
import org.apache.beam.sdk.values.TypeDescriptors;

/**
 * The results of a pipeline as committed epochs have them: kept in state, as often as they have come,
 * and written to files when the pipeline has come to its end. What attempts that were not committed
 * have output is not in it, and what two epochs have output is in it twice.
 */
final class Ledger extends PTransform<PCollection<String>, PDone> {
  static final String DIRECTORY = "results";

  private static final int PARTS = 3;

  private final String pipeline;

  /** The ledger of a pipeline. */
  Ledger(String pipeline) {
    super("ledger " + pipeline);
    this.pipeline = pipeline;
  }

  @Override
  public PDone expand(PCollection<String> results) {
    String of = pipeline;
    results
        .apply("all time", Window.into(new GlobalWindows()))
        .apply(
            "part",
            WithKeys.of((String result) -> of + "-" + Math.floorMod(result.hashCode(), PARTS))
                .withKeyType(TypeDescriptors.strings()))
        .apply("keep", ParDo.of(new LedgerFn()));
    return PDone.in(results.getPipeline());
  }

  /** All results in the ledgers of a run, those of all pipelines. */
  static List<String> read(Path directory) throws IOException {
    List<String> results = new ArrayList<>();
    Path files = directory.resolve(DIRECTORY);
    if (Files.isDirectory(files)) {
      try (Stream<Path> listed = Files.list(files)) {
        for (Path file : listed.filter(file -> file.toString().endsWith(".txt")).toList()) {
          results.addAll(Files.readAllLines(file));
        }
      }
    }
    return results;
  }

  /** Keeps the results of a part, and writes them at the end of time. */
  static final class LedgerFn extends DoFn<KV<String, String>, Void> {
    @StateId("results")
    private final StateSpec<BagState<String>> resultsSpec = StateSpecs.bag(StringUtf8Coder.of());

    @ProcessElement
    public void process(
        @Element KV<String, String> result, @StateId("results") BagState<String> results) {
      results.add(result.getValue());
    }

    /** May run again; what it writes is the same then. */
    @OnWindowExpiration
    public void write(@Key String part, @StateId("results") BagState<String> results)
        throws IOException {
      List<String> sorted = new ArrayList<>();
      results.read().forEach(sorted::add);
      sorted.sort(null);
      Path directory = Files.createDirectories(FaultPoints.directory().resolve(DIRECTORY));
      Path temporary = directory.resolve(part + "." + UUID.randomUUID());
      Files.write(temporary, sorted);
      Files.move(temporary, directory.resolve(part + ".txt"), StandardCopyOption.ATOMIC_MOVE);
    }
  }
}
