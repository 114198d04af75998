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
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.PTransform;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.values.PCollection;

/**
 * Elements that wait the first time they pass, in whichever process and attempt that is, until the
 * test lets them go, stops the query or kills the process: so a test acts in mid-epoch.
 */
public final class WaitPoints {
  private final Path directory;

  /**
   * The waiting points of a test.
   *
   * @param directory remembers who has waited; made if it is not there
   */
  public WaitPoints(Path directory) {
    this.directory = directory;
  }

  /** Passes elements on, of which these wait the first time they come. The transform has that name. */
  public PTransform<PCollection<String>, PCollection<String>> on(String name, Set<String> elements) {
    return new PTransform<>(name) {
      @Override
      public PCollection<String> expand(PCollection<String> input) {
        return input.apply(ParDo.of(new WaitFn(gate(elements))));
      }
    };
  }

  /** The waiting points of these elements for a function that is not a DoFn. */
  public Gate gate(Set<String> elements) {
    return new Gate(directory.toString(), List.copyOf(elements));
  }

  /** Whether an element has come to its waiting point, be it that it has left it since. */
  public boolean isReached(String element) {
    return file(directory, element).toFile().length() > 0;
  }

  /** The id of the process in which an element has come to its waiting point. */
  public long processOf(String element) {
    try {
      return Long.parseLong(Files.readString(file(directory, element)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Lets an element go on. */
  public void open(String element) {
    try {
      Files.createFile(openFile(directory, element));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Path file(Path directory, String element) {
    return directory.resolve(element.replaceAll("[^a-z0-9]", "_"));
  }

  private static Path openFile(Path directory, String element) {
    Path file = file(directory, element);
    return file.resolveSibling(file.getFileName() + ".open");
  }

  private static final class WaitFn extends DoFn<String, String> {
    private final Gate gate;

    WaitFn(Gate gate) {
      this.gate = gate;
    }

    @ProcessElement
    public void process(@Element String element, OutputReceiver<String> out) throws IOException {
      gate.pass(element);
      out.output(element);
    }
  }

  /** Where elements wait. */
  public static final class Gate implements Serializable {
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final long PATIENCE_NANOS = TimeUnit.MINUTES.toNanos(4);

    private final String directory;
    private final List<String> elements;

    private Gate(String directory, List<String> elements) {
      this.directory = directory;
      this.elements = elements;
    }

    /** Waits if the element is one that waits, and comes for the first time. */
    public void pass(String element) throws IOException {
      if (elements.contains(element) && isFirst(element)) {
        await(openFile(Path.of(directory), element));
      }
    }

    private boolean isFirst(String element) throws IOException {
      Files.createDirectories(Path.of(directory));
      try {
        Files.write(
            file(Path.of(directory), element),
            Long.toString(ProcessHandle.current().pid()).getBytes(StandardCharsets.UTF_8),
            StandardOpenOption.CREATE_NEW);
        return true;
      } catch (FileAlreadyExistsException e) {
        return false;
      }
    }

    private static void await(Path open) {
      long end = System.nanoTime() + PATIENCE_NANOS;
      while (!Files.exists(open)) {
        if (Thread.currentThread().isInterrupted()) {
          throw new IllegalStateException("stopped while waiting for " + open);
        }
        if (System.nanoTime() > end) {
          throw new IllegalStateException("nobody has made " + open);
        }
        LockSupport.parkNanos(LOOK_NANOS);
      }
    }
  }
}
