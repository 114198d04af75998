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

import org.apache.beam.sdk.state.StateSpec;
import org.apache.beam.sdk.state.StateSpecs;
import org.apache.beam.sdk.state.ValueState;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.values.KV;

/** How often each key has come so far: a record that is counted twice says so. */
final class CountFn extends DoFn<KV<String, String>, KV<String, Long>> {
  @StateId("count")
  private final StateSpec<ValueState<Long>> spec = StateSpecs.value();

  @ProcessElement
  public void process(
      @Element KV<String, String> element,
      @StateId("count") ValueState<Long> count,
      OutputReceiver<KV<String, Long>> out) {
    Long before = count.read();
    long now = before == null ? 1 : before + 1;
    count.write(now);
    out.output(KV.of(element.getKey(), now));
  }

  /** A text is a key. */
  static final class KeyFn extends DoFn<String, KV<String, String>> {
    @ProcessElement
    public void process(@Element String text, OutputReceiver<KV<String, String>> out) {
      out.output(KV.of(text, ""));
    }
  }

  /** A count as a record with a key and a value that tells all. */
  static final class TextFn extends DoFn<KV<String, Long>, KV<String, String>> {
    @ProcessElement
    public void process(@Element KV<String, Long> count, OutputReceiver<KV<String, String>> out) {
      out.output(KV.of(count.getKey(), count.getKey() + "=" + count.getValue()));
    }
  }
}
