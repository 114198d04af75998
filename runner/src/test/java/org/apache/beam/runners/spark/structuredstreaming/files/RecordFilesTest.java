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
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.is;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.avro.Schema;
import org.apache.avro.file.CodecFactory;
import org.apache.avro.file.DataFileReader;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.generic.GenericRecordBuilder;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.extensions.avro.coders.AvroCoder;
import org.apache.beam.sdk.extensions.avro.io.AvroIO;
import org.apache.beam.sdk.io.Compression;
import org.apache.beam.sdk.io.FileIO;
import org.apache.beam.sdk.io.GenerateSequence;
import org.apache.beam.sdk.io.TFRecordIO;
import org.apache.beam.sdk.transforms.Create;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.MapElements;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.values.TypeDescriptor;
import org.apache.beam.sdk.values.TypeDescriptors;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** TFRecordIO and AvroIO on local files: records come back as they were written. */
@Timeout(180)
class RecordFilesTest extends FileCase {
  private static final int RECORDS = 300;
  private static final String SCHEMA =
      "{\"type\":\"record\",\"name\":\"Line\",\"fields\":["
          + "{\"name\":\"text\",\"type\":\"string\"},"
          + "{\"name\":\"number\",\"type\":\"long\"},"
          + "{\"name\":\"tags\",\"type\":{\"type\":\"array\",\"items\":\"string\"}}]}";

  private static Stream<Arguments> compressionsAndEngines() {
    return Stream.of(Compression.UNCOMPRESSED, Compression.GZIP)
        .flatMap(
            compression ->
                Stream.of(Engine.values()).map(engine -> Arguments.of(compression, engine)));
  }

  @ParameterizedTest
  @MethodSource("compressionsAndEngines")
  void tfRecordsAreReadAgain(Compression compression, Engine engine) {
    String suffix = ".tfrecord" + compression.getSuggestedSuffix();
    run(
        engine,
        p ->
            p.apply(Create.of(lines(RECORDS)))
                .apply(
                    MapElements.into(TypeDescriptor.of(byte[].class))
                        .via(line -> line.getBytes(StandardCharsets.UTF_8)))
                .apply(
                    TFRecordIO.write()
                        .to(out("part"))
                        .withNumShards(2)
                        .withSuffix(".tfrecord")
                        .withCompression(compression)));
    assertThat(
        written().names(),
        contains("part-00000-of-00002" + suffix, "part-00001-of-00002" + suffix));
    run(
        engine,
        p -> {
          p.apply("Read", TFRecordIO.read().from(out("part-*")).withCompression(compression))
              .apply("Text", text())
              .apply(recorder.as("source"));
          p.apply(FileIO.match().filepattern(out("part-*")))
              .apply(FileIO.readMatches().withCompression(compression))
              .apply(TFRecordIO.readFiles())
              .apply("TextOfFiles", text())
              .apply(recorder.as("files"));
        });
    assertThat(recorded("source"), is(lines(RECORDS)));
    assertThat(recorded("files"), is(lines(RECORDS)));
  }

  private static MapElements<byte[], String> text() {
    return MapElements.into(TypeDescriptors.strings())
        .via(bytes -> new String(bytes, StandardCharsets.UTF_8));
  }

  @ParameterizedTest
  @EnumSource
  void avroRecordsAreReadAgain(Engine engine) {
    Schema schema = new Schema.Parser().parse(SCHEMA);
    run(
        engine,
        p ->
            p.apply(GenerateSequence.from(0).to(RECORDS))
                .apply(ParDo.of(new RecordFn(SCHEMA)))
                .setCoder(AvroCoder.of(schema))
                .apply(
                    AvroIO.writeGenericRecords(schema)
                        .to(out("part"))
                        .withSuffix(".avro")
                        .withCodec(CodecFactory.deflateCodec(6))
                        .withNumShards(2)));
    assertThat(
        written().names(), contains("part-00000-of-00002.avro", "part-00001-of-00002.avro"));
    run(
        engine,
        p -> {
          p.apply("Read", AvroIO.readGenericRecords(schema).from(out("part-*")))
              .apply("Text", avroText())
              .apply(recorder.as("source"));
          p.apply(FileIO.match().filepattern(out("part-*")))
              .apply(FileIO.readMatches())
              .apply(AvroIO.readFilesGenericRecords(schema))
              .apply("TextOfFiles", avroText())
              .apply(recorder.as("files"));
          p.apply(
                  "Parse",
                  AvroIO.parseGenericRecords(record -> record.get("text").toString())
                      .withCoder(StringUtf8Coder.of())
                      .from(out("part-*")))
              .apply(recorder.as("parsed"));
        });
    List<String> expected =
        LongStream.range(0, RECORDS).mapToObj(RecordFilesTest::expected).sorted().toList();
    assertThat(recorded("source"), is(expected));
    assertThat(recorded("files"), is(expected));
    assertThat(recorded("parsed"), is(lines(RECORDS)));
  }

  private static String expected(long number) {
    return String.format("line %05d", number) + " " + number + (number % 2 == 0 ? " [even]" : " []");
  }

  private static MapElements<GenericRecord, String> avroText() {
    return MapElements.into(TypeDescriptors.strings())
        .via(record -> record.get("text") + " " + record.get("number") + " " + record.get("tags"));
  }

  /** Makes a record of a number. */
  static final class RecordFn extends DoFn<Long, GenericRecord> {
    private final String json;
    private transient Schema schema;

    RecordFn(String json) {
      this.json = json;
    }

    @Setup
    public void setUp() {
      schema = new Schema.Parser().parse(json);
    }

    @ProcessElement
    public void process(@Element Long number, OutputReceiver<GenericRecord> out) {
      out.output(
          new GenericRecordBuilder(schema)
              .set("text", String.format("line %05d", number))
              .set("number", number)
              .set("tags", number % 2 == 0 ? List.of("even") : List.of())
              .build());
    }
  }

  /** Destinations of Avro files by the records' own content. */
  @ParameterizedTest
  @EnumSource
  void avroRecordsHaveDestinations(Engine engine) throws IOException {
    Schema schema = new Schema.Parser().parse(SCHEMA);
    run(
        engine,
        p ->
            p.apply(GenerateSequence.from(0).to(RECORDS))
                .apply(ParDo.of(new RecordFn(SCHEMA)))
                .setCoder(AvroCoder.of(schema))
                .apply(
                    FileIO.<String, GenericRecord>writeDynamic()
                        .by(record -> "d" + (long) record.get("number") % 3)
                        .withDestinationCoder(StringUtf8Coder.of())
                        .via(AvroIO.sink(schema))
                        .to(out().toString())
                        .withNumShards(1)
                        .withNaming(name -> (w, pane, shards, shard, c) -> name + ".avro")));
    assertThat(written().names(), contains("d0.avro", "d1.avro", "d2.avro"));
    for (int destination = 0; destination < 3; destination++) {
      List<String> found = new ArrayList<>();
      try (DataFileReader<GenericRecord> reader =
          new DataFileReader<>(
              out().resolve("d" + destination + ".avro").toFile(), new GenericDatumReader<>(schema))) {
        reader.forEach(record -> found.add(record.get("number").toString()));
      }
      int remainder = destination;
      assertThat(
          found.stream().map(Long::valueOf).sorted().toList(),
          is(LongStream.range(0, RECORDS).filter(n -> n % 3 == remainder).boxed().toList()));
    }
  }
}
