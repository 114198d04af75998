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
package org.apache.beam.runners.spark.structuredstreaming.scaling;

import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;

/** What a test and its source and DoFns on executors tell each other, by the files of a directory. */
final class Steering implements Serializable {
  private static final String LOAD = "load";
  private static final String END = "end";
  private static final String ENDED = "ended-";
  private static final String OPENED = ".opened";
  private static final String CLOSED = ".closed";

  private final String directory;

  /**
   * A steering with no load.
   *
   * @param directory of its own; made if it is not there
   */
  Steering(Path directory) throws IOException {
    this.directory = Files.createDirectories(directory).toString();
    setLoad(0);
  }

  /** Makes every record cost so many milliseconds from now on. */
  void setLoad(long millis) {
    write(LOAD, millis);
  }

  /** What a record costs. */
  long load() {
    return SteeredSource.number(file(LOAD));
  }

  /** Lets every split give no further record. */
  void end() {
    write(END, 1);
  }

  boolean isEnd() {
    return Files.exists(file(END));
  }

  void splitEnded(int split, long records) {
    write(ENDED + split, records);
  }

  /** How many records a split that has ended has given. */
  long recordsOf(int split) {
    return SteeredSource.number(file(ENDED + split));
  }

  void readerOpened(String reader, long process) {
    write(reader + OPENED, process);
  }

  void readerClosed(String reader, boolean finalized) {
    write(reader + CLOSED, finalized ? 1 : 0);
  }

  /**
   * A reader that was opened.
   *
   * @param process the id of its executor's process
   * @param closed whether it was closed, be it that its process ended since
   * @param finalized whether the last mark that was taken of it had been finalized by then
   */
  record OpenedReader(String id, long process, boolean closed, boolean finalized) {}

  /** All readers. */
  List<OpenedReader> readers() {
    List<OpenedReader> readers = new ArrayList<>();
    try (Stream<Path> files = Files.list(Path.of(directory))) {
      for (Path file : files.sorted().toList()) {
        String name = file.getFileName().toString();
        if (name.endsWith(OPENED)) {
          String id = name.substring(0, name.length() - OPENED.length());
          boolean closed = Files.exists(file(id + CLOSED));
          readers.add(
              new OpenedReader(
                  id,
                  SteeredSource.number(file),
                  closed,
                  closed && SteeredSource.number(file(id + CLOSED)) == 1));
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return readers;
  }

  /** Whoever reads the file sees it as it was before, or whole. */
  private void write(String name, long number) {
    try {
      Path written = Files.writeString(file(UUID.randomUUID().toString()), Long.toString(number));
      Files.move(written, file(name), StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Path file(String name) {
    return Path.of(directory, name);
  }
}
