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

import java.util.Map;
import java.util.TreeMap;
import org.apache.beam.runners.spark.structuredstreaming.testing.Recorder;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.Filter;
import org.apache.beam.sdk.transforms.MapElements;
import org.apache.beam.sdk.transforms.PTransform;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.windowing.AfterPane;
import org.apache.beam.sdk.transforms.windowing.GlobalWindows;
import org.apache.beam.sdk.transforms.windowing.Repeatedly;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PCollectionView;
import org.apache.beam.sdk.values.TypeDescriptors;
import org.joda.time.Duration;

/** What tests with side inputs share: one source feeds both sides, by the tag of its values. */
abstract class SideInputCase extends PipelineCase {
  /** The values with this tag, without it: {@code S:a} becomes {@code a} for {@code S}. */
  static PTransform<PCollection<String>, PCollection<String>> tagged(String tag) {
    return new Tagged(tag);
  }

  /** Makes {@code k=v} a pair. */
  static MapElements<String, KV<String, String>> pairs() {
    return MapElements.into(
            TypeDescriptors.kvs(TypeDescriptors.strings(), TypeDescriptors.strings()))
        .via(
            (String text) ->
                KV.of(
                    text.substring(0, text.indexOf('=')), text.substring(text.indexOf('=') + 1)));
  }

  /** Appends what the view has, as text. */
  static ParDo.SingleOutput<String, String> reading(PCollectionView<?> view) {
    return ParDo.of(new ReadFn(view)).withSideInputs(view);
  }

  /** A pane for every element, of that element alone. */
  static <T> Window<T> everyElement() {
    return Window.<T>into(new GlobalWindows())
        .triggering(Repeatedly.forever(AfterPane.elementCountAtLeast(1)))
        .withAllowedLateness(Duration.ZERO)
        .discardingFiredPanes();
  }

  /** Text of what a view has: maps and iterables in a fixed order. */
  static String text(Object value) {
    if (value instanceof Map<?, ?> map) {
      Map<String, String> sorted = new TreeMap<>();
      map.forEach((key, each) -> sorted.put(text(key), text(each)));
      return sorted.toString();
    }
    return Recorder.text(value);
  }

  private static final class Tagged
      extends PTransform<PCollection<String>, PCollection<String>> {
    private final String prefix;

    Tagged(String tag) {
      super("tagged " + tag);
      this.prefix = tag + ":";
    }

    @Override
    public PCollection<String> expand(PCollection<String> input) {
      String tag = prefix;
      return input
          .apply(Filter.by((String value) -> value.startsWith(tag)))
          .apply(
              MapElements.into(TypeDescriptors.strings())
                  .via((String value) -> value.substring(tag.length())));
    }
  }

  private static final class ReadFn extends DoFn<String, String> {
    private final PCollectionView<?> view;

    ReadFn(PCollectionView<?> view) {
      this.view = view;
    }

    @ProcessElement
    public void process(ProcessContext context) {
      context.output(context.element() + " " + text(context.sideInput(view)));
    }
  }
}
