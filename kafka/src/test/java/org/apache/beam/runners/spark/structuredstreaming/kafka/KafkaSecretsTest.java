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
package org.apache.beam.runners.spark.structuredstreaming.kafka;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.hasItem;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.not;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.beam.runners.spark.structuredstreaming.testing.OneTimeFaults;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.apache.beam.sdk.io.kafka.KafkaIO;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Configurator;
import org.apache.logging.log4j.core.config.Property;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * A password among the settings of a consumer or producer is in no line that is logged, at whatever
 * level the runner logs, in no progress and in no failure. The one place that has it is the file of the
 * source's splits, which are the source itself.
 */
class KafkaSecretsTest {
  @RegisterExtension static final TestSpark SPARK = TestSpark.on("local[2]");
  @RegisterExtension static final SharedBroker KAFKA = new SharedBroker();

  private static final String RUNNER = "org.apache.beam.runners.spark.structuredstreaming";
  private static final String BEAM_KAFKA = "org.apache.beam.sdk.io.kafka";
  private static final String SECRET = "open-sesame-4711";
  private static final Map<String, Object> SETTINGS =
      Map.of(
          "sasl.jaas.config",
          "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"u\" password=\""
              + SECRET + "\";",
          "ssl.keystore.password", SECRET,
          "own.password", SECRET);

  @TempDir Path directory;
  private final Lines lines = new Lines();

  /** Keeps what is logged, with stack traces. */
  private static final class Lines extends AbstractAppender {
    private final Queue<String> logged = new ConcurrentLinkedQueue<>();

    Lines() {
      super("lines", null, null, false, Property.EMPTY_ARRAY);
    }

    @Override
    public void append(LogEvent event) {
      StringWriter text = new StringWriter();
      text.append(event.getLoggerName()).append(' ').append(event.getMessage().getFormattedMessage());
      if (event.getThrown() != null) {
        event.getThrown().printStackTrace(new PrintWriter(text));
      }
      logged.add(text.toString());
    }
  }

  @BeforeEach
  void setUp() {
    Configurator.setLevel(RUNNER, Level.TRACE);
    Configurator.setLevel(BEAM_KAFKA, Level.INFO);
    lines.start();
    context().getConfiguration().getRootLogger().addAppender(lines, Level.ALL, null);
    context().updateLoggers();
  }

  @AfterEach
  void tearDown() {
    context().getConfiguration().getRootLogger().removeAppender("lines");
    Configurator.setLevel(RUNNER, (Level) null);
    Configurator.setLevel(BEAM_KAFKA, (Level) null);
    context().updateLoggers();
  }

  private static LoggerContext context() {
    return (LoggerContext) LogManager.getContext(false);
  }

  @Test
  void passwordsAreNotTold() throws IOException {
    String input = KAFKA.topics().create("secret-in", 1);
    String output = KAFKA.topics().create("secret-out", 1);
    KAFKA.topics().sendNumbers(input, 1, 0, 10);
    KafkaRun run = new KafkaRun(SPARK, directory);
    OneTimeFaults faults = new OneTimeFaults(directory.resolve("faults"));
    AtomicReference<String> progress = new AtomicReference<>("");
    run.harness(
            pipeline -> {
              PCollection<KV<String, String>> read =
                  pipeline
                      .apply(
                          KafkaRun.texts(KAFKA.broker())
                              .withTopic(input)
                              .withConsumerConfigUpdates(SETTINGS)
                              .withoutMetadata())
                      .apply(faults.on("fault", Set.of("k5=5")));
              read.apply(
                  KafkaIO.<String, String>write()
                      .withBootstrapServers(KAFKA.broker().servers())
                      .withTopic(output)
                      .withKeySerializer(StringSerializer.class)
                      .withValueSerializer(StringSerializer.class)
                      .withProducerConfigUpdates(SETTINGS));
              return read;
            })
        .runUntil(
            "10 records and progress",
            result -> {
              progress.set(result.progressJson());
              return progress.get() != null && run.recorder().seen(KafkaRun.READ).size() >= 10;
            });
    assertThat(KAFKA.topics().values(output), not(empty()));
    assertThat("the query has failed once", faults.happened("fault"), is(1));
    List<String> logged = List.copyOf(lines.logged);
    assertThat("the runner has logged", logged, hasItem(containsString(RUNNER)));
    assertThat(logged.stream().filter(line -> line.contains(SECRET)).toList(), empty());
    assertThat(progress.get(), containsString("KafkaIO"));
    assertThat(progress.get(), not(containsString(SECRET)));
    assertThat(
        Files.readString(directory.resolve("checkpoint/beam/plan"), ISO_8859_1),
        not(containsString(SECRET)));
  }
}
