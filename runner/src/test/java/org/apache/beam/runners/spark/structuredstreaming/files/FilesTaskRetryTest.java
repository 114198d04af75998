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
package org.apache.beam.runners.spark.structuredstreaming.files;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.is;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.beam.runners.spark.structuredstreaming.testing.OneTimeFaults;
import org.apache.beam.runners.spark.structuredstreaming.testing.RestartHarness;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.io.FileIO;
import org.apache.beam.sdk.io.TextIO;
import org.apache.beam.sdk.transforms.Create;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A task that fails while it writes leaves nothing of its own: what is there is that of its last attempt. */
@Timeout(180)
class FilesTaskRetryTest {
  @RegisterExtension static final TestSpark SPARK = TestSpark.on("local[2,4]");

  private static final List<String> LINES = FileCase.lines(400);
  private static final Set<String> FAILING = Set.of("line 00057", "line 00390");

  @TempDir Path directory;

  private static Stream<Arguments> waysAndEngines() {
    return Stream.of(WaysToWrite.values())
        .flatMap(
            way -> Stream.of(FileCase.Engine.values()).map(engine -> Arguments.of(way, engine)));
  }

  /** TextIO has a sink of its own. */
  private static Stream<Arguments> destinationsAndEngines() {
    return waysAndEngines()
        .filter(
            arguments ->
                arguments.get()[0] == WaysToWrite.DESTINATIONS_IN_CHOSEN_SHARDS
                    || arguments.get()[0] == WaysToWrite.DESTINATIONS_IN_ONE_SHARD);
  }

  private void run(FileCase.Engine engine, Consumer<Pipeline> build) {
    new RestartHarness(
            SPARK,
            directory.resolve("checkpoint"),
            build,
            "--parallelism=2",
            "--streaming=" + (engine == FileCase.Engine.STREAMING),
            "--maxRestarts=0")
        .runToTheEnd();
  }

  /** The DoFn that fails is fused with the write where the runner chooses the shards. */
  @ParameterizedTest
  @MethodSource("waysAndEngines")
  void aDoFnThatFailsBeforeTheWrite(WaysToWrite way, FileCase.Engine engine) {
    OneTimeFaults faults = new OneTimeFaults(directory.resolve("faults"));
    Path out = directory.resolve("out");
    run(
        engine,
        p ->
            p.apply(Create.of(LINES))
                .apply(faults.on("before", FAILING))
                .apply(way.to(out, TextIO.sink())));
    assertThat(faults.happened("before"), is(2));
    way.assertExact(out, LINES);
  }

  @ParameterizedTest
  @MethodSource("destinationsAndEngines")
  void aSinkThatFailsInTheMiddleOfItsFile(WaysToWrite way, FileCase.Engine engine) {
    OneTimeFaults faults = new OneTimeFaults(directory.resolve("faults"));
    Path out = directory.resolve("out");
    run(
        engine,
        p ->
            p.apply(Create.of(LINES))
                .apply(way.to(out, new FailingSink(faults.fault("within", FAILING)))));
    assertThat(faults.happened("within"), is(2));
    way.assertExact(out, LINES);
  }

  /** Writes lines, but fails in the middle of some: half of the line is in the file then. */
  private static final class FailingSink implements FileIO.Sink<String> {
    private final OneTimeFaults.Fault fault;
    private transient WritableByteChannel channel;

    FailingSink(OneTimeFaults.Fault fault) {
      this.fault = fault;
    }

    @Override
    public void open(WritableByteChannel opened) {
      channel = opened;
    }

    @Override
    public void write(String line) throws IOException {
      write(line.substring(0, 4), channel);
      fault.pass(line);
      write(line.substring(4) + "\n", channel);
    }

    private static void write(String text, WritableByteChannel to) throws IOException {
      ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
      while (bytes.hasRemaining()) {
        to.write(bytes);
      }
    }

    @Override
    public void flush() {}
  }
}
