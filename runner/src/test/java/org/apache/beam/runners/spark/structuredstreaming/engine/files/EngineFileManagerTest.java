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
package org.apache.beam.runners.spark.structuredstreaming.engine.files;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.arrayContaining;
import static org.hamcrest.Matchers.emptyArray;
import static org.hamcrest.Matchers.is;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.spark.sql.execution.streaming.CheckpointFileManager;
import org.apache.spark.sql.execution.streaming.CheckpointFileManager.CancellableFSDataOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files of checkpoints come whole or not at all, on local disks without a process. */
class EngineFileManagerTest {
  @TempDir File directory;
  private CheckpointFileManager files;
  private Path file;

  @BeforeEach
  void makeManager() throws IOException {
    files = new EngineFileManager(new Path(directory.toURI()), new Configuration());
    file = new Path(new Path(directory.toURI()), "file");
  }

  private void write(String text, boolean overwrite) throws IOException {
    CancellableFSDataOutputStream out = files.createAtomic(file, overwrite);
    try {
      out.write(text.getBytes(StandardCharsets.UTF_8));
      out.close();
    } catch (IOException e) {
      out.cancel();
      throw e;
    }
  }

  private String read() throws IOException {
    try (FSDataInputStream in = files.open(file)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Test
  void aFileIsThereOnceItIsClosed() throws IOException {
    CancellableFSDataOutputStream out = files.createAtomic(file, false);
    out.write('a');
    assertThat(files.exists(file), is(false));
    out.close();
    assertThat(read(), is("a"));
    assertThat(directory.list(), arrayContaining("file"));
  }

  @Test
  void aCancelledFileLeavesNothing() throws IOException {
    CancellableFSDataOutputStream out = files.createAtomic(file, false);
    out.write('a');
    out.cancel();
    assertThat(directory.list(), emptyArray());
  }

  @Test
  void aFileIsReplacedIfThatIsAllowed() throws IOException {
    write("first", false);
    write("second", true);
    assertThat(read(), is("second"));
  }

  /** By this exception Spark knows that another driver writes the same log. */
  @Test
  void aFileIsNotReplacedOtherwise() throws IOException {
    write("first", false);
    assertThrows(FileAlreadyExistsException.class, () -> write("second", false));
    assertThat(read(), is("first"));
    assertThat(directory.list(), arrayContaining("file"));
  }

  @Test
  void localFilesAndDirectoriesTakeNoProcess() throws IOException {
    write("before", true);
    files.delete(file);
    try (Recording recording = new Recording()) {
      recording.enable("jdk.ProcessStart");
      recording.start();
      files.mkdirs(new Path(new Path(directory.toURI()), "a/b/c"));
      write("first", false);
      write("second", true);
      files.list(new Path(directory.toURI()));
      files.delete(file);
      files.delete(file);
      recording.stop();
      java.nio.file.Path events = directory.toPath().resolve("events");
      recording.dump(events);
      List<String> started =
          RecordingFile.readAllEvents(events).stream().map(RecordedEvent::toString).toList();
      assertThat(started, is(List.of()));
    }
  }

  /** A file system that is not Hadoop's own for local disks, and only of Hadoop's older kind. */
  public static final class OtherFileSystem extends RawLocalFileSystem {
    @Override
    public URI getUri() {
      return URI.create("other:///");
    }
  }

  @Test
  void anotherFileSystemIsWrittenAsSparkWritesIt() throws IOException {
    Configuration configuration = new Configuration();
    configuration.set("fs.other.impl", OtherFileSystem.class.getName());
    Path root = new Path("other://" + directory.toURI().getPath());
    files = new EngineFileManager(root, configuration);
    file = new Path(root, "file");
    write("first", false);
    assertThrows(FileAlreadyExistsException.class, () -> write("second", false));
    assertThat(read(), is("first"));
  }
}
