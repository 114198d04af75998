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
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.PTransform;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.values.PCollection;

/** Elements that fail the first time they pass, in whichever process and attempt that is. */
public final class OneTimeFaults {
  private final Path directory;

  /**
   * The faults of a test.
   *
   * @param directory remembers what has failed; made if it is not there
   */
  public OneTimeFaults(Path directory) {
    this.directory = directory;
  }

  /** Passes elements on, but fails the first time that one with a text of these comes. */
  public <T> PTransform<PCollection<T>, PCollection<T>> on(String name, Set<String> texts) {
    return new PTransform<>(name) {
      @Override
      public PCollection<T> expand(PCollection<T> input) {
        return input
            .apply(ParDo.of(new FaultFn<T>(fault(name, texts))))
            .setCoder(input.getCoder());
      }
    };
  }

  /** The same faults, counted under a name, for a function that is not a DoFn. */
  public Fault fault(String name, Set<String> texts) {
    return new Fault(directory.resolve(name).toString(), List.copyOf(texts));
  }

  /** How many of a transform's faults have happened. */
  public int happened(String name) {
    String[] files = directory.resolve(name).toFile().list();
    return files == null ? 0 : files.length;
  }

  private static final class FaultFn<T> extends DoFn<T, T> {
    private final Fault fault;

    FaultFn(Fault fault) {
      this.fault = fault;
    }

    @ProcessElement
    public void process(@Element T element, OutputReceiver<T> out) throws IOException {
      fault.pass(Recorder.text(element));
      out.output(element);
    }
  }

  /** Where texts fail the first time they come. */
  public static final class Fault implements Serializable {
    private final String directory;
    private final List<String> texts;

    private Fault(String directory, List<String> texts) {
      this.directory = directory;
      this.texts = texts;
    }

    /** Fails if the text is one that fails, and comes for the first time. */
    public void pass(String text) throws IOException {
      int position = texts.indexOf(text);
      if (position >= 0 && isFirst(position)) {
        throw new IllegalStateException("the fault of " + text);
      }
    }

    private boolean isFirst(int position) throws IOException {
      Files.createDirectories(Path.of(directory));
      try {
        Files.createFile(Path.of(directory, Integer.toString(position)));
        return true;
      } catch (FileAlreadyExistsException e) {
        return false;
      }
    }
  }
}
