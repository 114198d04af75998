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
package org.apache.beam.runners.spark.structuredstreaming.comparison;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Stream;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.Row;
import org.joda.time.Instant;

/**
 * What the collections of a pipeline held: their elements with timestamps and windows, in files, because
 * executors may be other processes. Each bundle that ends has a file of its own, so it is exact where no
 * task fails.
 */
final class Outcome {
  private final Path directory;

  /**
   * The outcome of a run.
   *
   * @param directory of this run alone; made if it is not there
   */
  Outcome(Path directory) {
    this.directory = directory;
  }

  /** Keeps what a collection holds under a name. */
  <T> void of(String name, PCollection<T> collection) {
    Path folder = directory.resolve(name);
    collection.apply("outcome of " + name, ParDo.of(new KeepFn<T>(folder.toString(), true)));
  }

  /** Keeps the elements alone, where their timestamps are up to the runner. */
  <T> void ofValues(String name, PCollection<T> collection) {
    Path folder = directory.resolve(name);
    collection.apply("outcome of " + name, ParDo.of(new KeepFn<T>(folder.toString(), false)));
  }

  /** What has been kept, each collection sorted. */
  SortedMap<String, List<String>> read() throws IOException {
    SortedMap<String, List<String>> read = new TreeMap<>();
    if (Files.isDirectory(directory)) {
      try (Stream<Path> files = Files.walk(directory)) {
        for (Path file : files.filter(Files::isRegularFile).toList()) {
          read.computeIfAbsent(
                  directory.relativize(file.getParent()).toString(), name -> new ArrayList<>())
              .addAll(Files.readAllLines(file));
        }
      }
    }
    read.values().forEach(Collections::sort);
    return read;
  }

  /** Pairs as {@code key=value}, iterables and maps sorted, bytes as numbers, all on one line. */
  private static String text(Object value) {
    if (value instanceof KV<?, ?> pair) {
      return text(pair.getKey()) + "=" + text(pair.getValue());
    }
    if (value instanceof Iterable<?> many) {
      List<String> texts = new ArrayList<>();
      many.forEach(one -> texts.add(text(one)));
      Collections.sort(texts);
      return texts.toString();
    }
    if (value instanceof byte[] bytes) {
      return Arrays.toString(bytes);
    }
    if (value instanceof Row row) {
      return row.getSchema().getFieldNames() + " " + row.getValues().stream().map(Outcome::text).toList();
    }
    return String.valueOf(value).replace("\n", "\\n");
  }

  private static final class KeepFn<T> extends DoFn<T, Void> {
    private final String folder;
    private final boolean withTimes;
    private transient List<String> lines;

    KeepFn(String folder, boolean withTimes) {
      this.folder = folder;
      this.withTimes = withTimes;
    }

    @StartBundle
    public void startBundle() {
      lines = new ArrayList<>();
    }

    @ProcessElement
    public void process(@Element T element, @Timestamp Instant timestamp, BoundedWindow window) {
      lines.add(text(element) + (withTimes ? " at " + timestamp + " in " + window : ""));
    }

    @FinishBundle
    public void finishBundle() throws IOException {
      if (!lines.isEmpty()) {
        Files.createDirectories(Path.of(folder));
        Files.write(Path.of(folder, UUID.randomUUID().toString()), lines);
      }
    }
  }
}
