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
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.not;
import static org.hamcrest.Matchers.sameInstance;

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
class KeysByBytesTest {
  private static final Schema SCHEMA = Schema.builder().addStringField("name").build();

  /** As one of another JVM, which differs in the hash code that it remembers. */
  private static final Schema OTHER =
      Schema.builder()
          .addField(Schema.Field.of("name", Schema.FieldType.STRING).withDescription("other"))
          .build();

  private static Row row(Schema schema) {
    return Row.withSchema(schema).addValue("a").build();
  }

  @Test
  void rowsOfEqualBytesAreTheSameKey() {
    Coder<Row> coder = KeysByBytes.of(RowCoder.of(SCHEMA));
    assertThat(row(SCHEMA), not(equalTo(row(OTHER))));
    assertThat(coder.structuralValue(row(SCHEMA)), equalTo(coder.structuralValue(row(OTHER))));
    assertThat(
        coder.structuralValue(Row.withSchema(SCHEMA).addValue("b").build())
            .equals(coder.structuralValue(row(SCHEMA))),
        is(false));
  }

  @Test
  void rowsWithinKeys() {
    Coder<KV<Row, Long>> coder =
        KeysByBytes.of(KvCoder.of(RowCoder.of(SCHEMA), VarLongCoder.of()));
    assertThat(
        coder.structuralValue(KV.of(row(SCHEMA), 1L)),
        equalTo(coder.structuralValue(KV.of(row(OTHER), 1L))));
  }

  @Test
  void otherKeysAreComparedAsEver() {
    Coder<String> coder = StringUtf8Coder.of();
    assertThat(KeysByBytes.of(coder), sameInstance(coder));
  }
}
