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
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/** Lines that all processes of a run add to one file; their order is that of what they tell. */
final class EventLog {
  static final String FAULT = "fault";
  static final String KILLED = "killed";
  static final String JOB = "job";
  static final String COMMIT = "commit";

  /** A copy of a slow task has ended before the task. */
  static final String COPY = "copy";

  /** The system has refused a write because the disk is full. */
  static final String DISK_FULL = "disk full";

  /** A file was written although its disk should have been full. */
  static final String DISK_NOT_FULL = "disk not full";

  /** A task that writes its mark was to be ended by Spark because a copy of it has ended. */
  static final String OVERTAKEN = "overtaken";

  private static final String SEPARATOR = "\t";

  private final Path file;

  EventLog(Path file) {
    this.file = file;
  }

  /** Something that has happened: its kind, and what is to be said of it. */
  record Event(String kind, List<String> details) {}

  /** Adds a line. */
  void add(String kind, Object... details) {
    StringBuilder line = new StringBuilder(kind);
    for (Object detail : details) {
      line.append(SEPARATOR).append(detail);
    }
    try {
      // One write, which the system appends as a whole.
      Files.write(
          file,
          line.append('\n').toString().getBytes(StandardCharsets.UTF_8),
          StandardOpenOption.CREATE,
          StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Everything so far, in order. */
  List<Event> events() {
    if (!Files.exists(file)) {
      return List.of();
    }
    try {
      String text = Files.readString(file);
      // A line without its end is being written.
      return text.substring(0, text.lastIndexOf('\n') + 1).lines().map(EventLog::parse).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Event parse(String line) {
    List<String> parts = List.of(line.split(SEPARATOR, -1));
    return new Event(parts.get(0), parts.subList(1, parts.size()));
  }
}
