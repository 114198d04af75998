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
package org.apache.beam.runners.spark.structuredstreaming.cases;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.contains;

import org.apache.beam.sdk.coders.KvCoder;
import org.apache.beam.sdk.coders.NullableCoder;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.coders.VarIntCoder;
import org.apache.beam.sdk.coders.VoidCoder;
import org.apache.beam.sdk.transforms.Create;
import org.apache.beam.sdk.transforms.GroupByKey;
import org.apache.beam.sdk.transforms.Sum;
import org.apache.beam.sdk.transforms.windowing.GlobalWindows;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** apache/beam#7282: null is a value like any other, and so it is a key. */
class NullCasesTest extends PipelineCase {
  private static <T> Window<T> windows(boolean byWindow) {
    Window<T> global = Window.into(new GlobalWindows());
    return byWindow ? global : withoutLifting(global);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void nullValuesAreGrouped(boolean byWindow) {
    run(
        p ->
            p.apply(
                    Create.of(KV.of("a", (String) null), KV.of("a", (String) null))
                        .withCoder(
                            KvCoder.of(
                                StringUtf8Coder.of(), NullableCoder.of(StringUtf8Coder.of()))))
                .apply(windows(byWindow))
                .apply(GroupByKey.create())
                .apply(recorder.as("groups")));
    assertThat(recorder.values("groups"), contains("a=[null, null]"));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void theNullKeyIsOneGroup(boolean byWindow) {
    run(
        p ->
            p.apply(
                    Create.of(KV.of((Void) null, 1), KV.of((Void) null, 2))
                        .withCoder(KvCoder.of(VoidCoder.of(), VarIntCoder.of())))
                .apply(windows(byWindow))
                .apply(GroupByKey.create())
                .apply(recorder.as("groups")));
    assertThat(recorder.values("groups"), contains("null=[1, 2]"));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void theNullKeyIsCombined(boolean byWindow) {
    run(
        p ->
            p.apply(
                    Create.of(KV.of((String) null, 1), KV.of("a", 4), KV.of((String) null, 2))
                        .withCoder(
                            KvCoder.of(NullableCoder.of(StringUtf8Coder.of()), VarIntCoder.of())))
                .apply(windows(byWindow))
                .apply(Sum.integersPerKey())
                .apply(recorder.as("sums")));
    assertThat(recorder.values("sums"), contains("a=4", "null=3"));
  }
}
