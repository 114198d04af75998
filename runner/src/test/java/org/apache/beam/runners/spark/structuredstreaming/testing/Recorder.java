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
package org.apache.beam.runners.spark.structuredstreaming.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.PTransform;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.transforms.windowing.PaneInfo;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.spark.TaskContext;
import org.joda.time.Instant;

/**
 * Writes down the elements that pass, with the epoch they pass in, in files of a directory: so it
 * works for executors in processes of their own, and over restarts.
 *
 * <p>An epoch that is run again passes its elements again. {@link #seen} leaves such repetitions out:
 * what it returns twice differs in the epoch, or else in what the two runs of the epoch brought.
 */
public final class Recorder {
  private static final String EPOCH_PROPERTY = "streaming.sql.batchId";

  private final Path directory;

  /**
   * A recorder.
   *
   * @param directory of this recorder alone; made if it is not there
   */
  public Recorder(Path directory) {
    this.directory = directory;
  }

  /** Records under {@code name} what passes. The transform has that name. */
  public <T> PTransform<PCollection<T>, PCollection<T>> as(String name) {
    return new Recording<>(name, directory.resolve(name).toString());
  }

  /** What passed under {@code name}, without repetitions. */
  public List<Recorded> seen(String name) {
    return List.copyOf(new LinkedHashSet<>(all(name)));
  }

  /** The values of {@link #seen}, sorted. */
  public List<String> values(String name) {
    return seen(name).stream().map(Recorded::value).sorted().toList();
  }

  /**
   * Everything that passed under {@code name}, that of failed attempts included: in the order of
   * epochs, and what one task passed in the order in which it did. Each thread has a file, and which
   * of an executor's threads runs a task says nothing.
   */
  public List<Recorded> all(String name) {
    Path files = directory.resolve(name);
    if (!Files.isDirectory(files)) {
      return List.of();
    }
    List<Recorded> found = new ArrayList<>();
    try (Stream<Path> listed = Files.list(files)) {
      for (Path file : listed.sorted().toList()) {
        String text = Files.readString(file);
        // A line without its end is being written.
        text.substring(0, text.lastIndexOf('\n') + 1).lines().map(Recorded::decode).forEach(found::add);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    found.sort(Comparator.comparingLong(Recorded::epoch));
    return found;
  }

  /** Waits until {@link #seen} has at least {@code count} elements. */
  public void await(String name, int count) {
    Await.until(
        count + " elements of " + name, () -> seen(name).size() >= count, () -> seen(name));
  }

  /** The epoch of the task on this thread; 0 in a batch. */
  public static long currentEpoch() {
    String epoch = TaskContext.get().getLocalProperty(EPOCH_PROPERTY);
    return epoch == null ? 0 : Long.parseLong(epoch);
  }

  /** Pairs as {@code key=value}, iterables sorted, all else by its own text. */
  public static String text(Object value) {
    if (value instanceof KV<?, ?> pair) {
      return text(pair.getKey()) + "=" + text(pair.getValue());
    }
    if (value instanceof Iterable<?> many) {
      return StreamSupport.stream(many.spliterator(), false)
          .map(Recorder::text)
          .sorted()
          .toList()
          .toString();
    }
    return String.valueOf(value);
  }

  private static final class Recording<T> extends PTransform<PCollection<T>, PCollection<T>> {
    private final String directory;

    Recording(String name, String directory) {
      super(name);
      this.directory = directory;
    }

    @Override
    public PCollection<T> expand(PCollection<T> input) {
      return input.apply(ParDo.of(new RecordFn<T>(directory))).setCoder(input.getCoder());
    }
  }

  private static final class RecordFn<T> extends DoFn<T, T> {
    private final String directory;

    RecordFn(String directory) {
      this.directory = directory;
    }

    @ProcessElement
    public void process(
        @Element T element,
        @Timestamp Instant timestamp,
        BoundedWindow window,
        PaneInfo pane,
        OutputReceiver<T> out)
        throws IOException {
      Recorded recorded = Recorded.of(currentEpoch(), element, timestamp, window, pane);
      Path ofName = Path.of(directory);
      Files.createDirectories(ofName);
      String file = ProcessHandle.current().pid() + "-" + Thread.currentThread().getId();
      Files.write(
          ofName.resolve(file),
          (recorded.encode() + "\n").getBytes(StandardCharsets.UTF_8),
          StandardOpenOption.CREATE,
          StandardOpenOption.APPEND);
      out.output(element);
    }
  }
}
