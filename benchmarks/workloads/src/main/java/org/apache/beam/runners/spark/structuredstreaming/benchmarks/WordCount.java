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
package org.apache.beam.runners.spark.structuredstreaming.benchmarks;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.io.TextIO;
import org.apache.beam.sdk.transforms.Count;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.windowing.GlobalWindow;
import org.apache.beam.sdk.values.KV;

/**
 * Counts the words of a text file. A record is a line of ten words out of 50,000, of which few are
 * frequent. The file is written before the time starts, into the temporary directory of the JVM.
 */
final class WordCount implements Workload {
  private static final int WORDS = 50_000;
  private static final int WORDS_PER_LINE = 10;

  /** Number of a word of the text: the product of two random numbers makes small ones frequent. */
  private static int word(long position) {
    long random = Results.mix(position);
    return (int) (((random >>> 40) * (random & 0xFFFFFF)) >>> 24) % WORDS;
  }

  @Override
  public void build(Pipeline pipeline, long records) {
    pipeline
        .apply("ReadLines", TextIO.read().from(write(records).toString()))
        .apply("Split", ParDo.of(new Split()))
        .apply("Count", Count.perElement())
        .apply("ToNumbers", ParDo.of(new ToNumbers()))
        .apply("Results", ParDo.of(new Results.Sink()));
  }

  private static Path write(long lines) {
    try {
      Path text = Files.createTempDirectory("words").resolve("words.txt");
      try (BufferedWriter out = Files.newBufferedWriter(text)) {
        for (long line = 0; line < lines; line++) {
          for (int i = 0; i < WORDS_PER_LINE; i++) {
            out.append(i == 0 ? "word" : " word");
            out.append(Integer.toString(word(line * WORDS_PER_LINE + i)));
          }
          out.newLine();
        }
      }
      text.toFile().deleteOnExit();
      return text;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public Totals expected(long records) {
    long[] counts = new long[WORDS];
    for (long position = 0; position < records * WORDS_PER_LINE; position++) {
      counts[word(position)]++;
    }
    Results.Expected expected = new Results.Expected();
    long window = GlobalWindow.INSTANCE.maxTimestamp().getMillis();
    for (int word = 0; word < WORDS; word++) {
      if (counts[word] > 0) {
        expected.add(word, window, counts[word]);
      }
    }
    return expected.totals();
  }

  private static final class Split extends DoFn<String, String> {
    @ProcessElement
    public void process(@Element String line, OutputReceiver<String> output) {
      for (String word : line.split(" ", -1)) {
        output.output(word);
      }
    }
  }

  private static final class ToNumbers extends DoFn<KV<String, Long>, KV<Long, Long>> {
    @ProcessElement
    public void process(@Element KV<String, Long> count, OutputReceiver<KV<Long, Long>> output) {
      output.output(KV.of(Long.parseLong(count.getKey().substring(4)), count.getValue()));
    }
  }
}
