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
package org.apache.beam.runners.spark.structuredstreaming.engine.keyed;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.not;
import static org.hamcrest.Matchers.sameInstance;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.coders.KvCoder;
import org.apache.beam.sdk.coders.RowCoder;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.coders.VarLongCoder;
import org.apache.beam.sdk.schemas.Schema;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.Row;
import org.junit.jupiter.api.Test;

/** Rows as keys of views, which other JVMs have made. */
class RowKeyCoderTest {
  private static final Schema SCHEMA = Schema.builder().addStringField("name").build();

  /** As one of another JVM, which differs in the hash code that it remembers. */
  private static final Schema OTHER =
      Schema.builder()
          .addField(Schema.Field.of("name", Schema.FieldType.STRING).withDescription("other"))
          .build();

  private static Row row(Schema schema, Object value) {
    return Row.withSchema(schema).addValue(value).build();
  }

  @Test
  void rowsAreTheSameKeyWhateverTheirSchemasSay() {
    Coder<Row> coder = RowKeyCoder.of(RowCoder.of(SCHEMA));
    assertThat(row(SCHEMA, "a"), not(equalTo(row(OTHER, "a"))));
    assertThat(
        coder.structuralValue(row(SCHEMA, "a")), equalTo(coder.structuralValue(row(OTHER, "a"))));
    assertThat(
        coder.structuralValue(row(SCHEMA, "a")),
        not(equalTo(coder.structuralValue(row(SCHEMA, "b")))));
  }

  @Test
  void rowsWithOtherFieldsAreOtherKeys() {
    Coder<Row> coder = RowKeyCoder.of(RowCoder.of(SCHEMA));
    Schema renamed = Schema.builder().addStringField("title").build();
    Schema number = Schema.builder().addInt64Field("name").build();
    assertThat(
        coder.structuralValue(row(renamed, "a")),
        not(equalTo(coder.structuralValue(row(SCHEMA, "a")))));
    assertThat(
        coder.structuralValue(row(number, 1L)),
        not(equalTo(coder.structuralValue(row(SCHEMA, "1")))));
  }

  @Test
  void mapsBytesAndRowsWithinRows() {
    Schema schema =
        Schema.builder()
            .addMapField("map", Schema.FieldType.STRING, Schema.FieldType.BYTES)
            .addArrayField("rows", Schema.FieldType.row(SCHEMA))
            .addNullableStringField("nothing")
            .build();
    Map<String, byte[]> map = new LinkedHashMap<>();
    map.put("x", new byte[] {1});
    map.put("y", new byte[] {2});
    Map<String, byte[]> reversed = new LinkedHashMap<>();
    reversed.put("y", new byte[] {2});
    reversed.put("x", new byte[] {1});
    Coder<Row> coder = RowKeyCoder.of(RowCoder.of(schema));
    Row one =
        Row.withSchema(schema).addValues(map, List.of(row(SCHEMA, "a")), null).build();
    Row same =
        Row.withSchema(schema).addValues(reversed, List.of(row(SCHEMA, "a")), null).build();
    assertThat(coder.structuralValue(one), equalTo(coder.structuralValue(same)));
  }

  @Test
  void rowsWithinKeys() {
    Coder<KV<Row, Long>> coder =
        RowKeyCoder.of(KvCoder.of(RowCoder.of(SCHEMA), VarLongCoder.of()));
    assertThat(
        coder.structuralValue(KV.of(row(SCHEMA, "a"), 1L)),
        equalTo(coder.structuralValue(KV.of(row(OTHER, "a"), 1L))));
  }

  @Test
  void otherKeysAreComparedAsEver() {
    Coder<String> coder = StringUtf8Coder.of();
    assertThat(RowKeyCoder.of(coder), sameInstance(coder));
  }
}
