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
package org.apache.beam.runners.spark.structuredstreaming.translation;

import java.util.List;
import java.util.function.Consumer;
import org.apache.beam.runners.spark.structuredstreaming.translation.UnsupportedPipelineException.Problem;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.io.Read;
import org.apache.beam.sdk.io.UnboundedSource;
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.options.PipelineOptionsFactory;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PCollectionView;
import org.joda.time.Duration;
import org.junit.jupiter.api.Assertions;

/** What the tests of the translation share. */
final class PlanTesting {
  private PlanTesting() {}

  static Pipeline pipeline() {
    return Pipeline.create(PipelineOptionsFactory.create());
  }

  static Plan translate(Pipeline pipeline) {
    return PlanTranslator.translate(pipeline, pipeline.getOptions(), true);
  }

  static Plan translateToBatch(Pipeline pipeline) {
    return PlanTranslator.translate(pipeline, pipeline.getOptions(), false);
  }

  /** A source that is only translated, in windows. */
  static PCollection<String> source(Pipeline pipeline, String name) {
    return pipeline
        .apply(name, Read.from(new StringsSource(false)))
        .apply(name + " windows", Window.into(FixedWindows.of(Duration.standardSeconds(10))));
  }

  /** A ParDo named {@code name} that reads views. */
  static PCollection<String> read(
      PCollection<String> input, String name, PCollectionView<?>... views) {
    return input
        .apply(name, ParDo.of(new PassFn<String>()).withSideInputs(List.of(views)))
        .setCoder(StringUtf8Coder.of());
  }

  /** Builds a pipeline, expects it to be refused, and gives the problems. */
  static List<Problem> problems(Consumer<Pipeline> build) {
    Pipeline pipeline = pipeline();
    build.accept(pipeline);
    return Assertions.assertThrows(
            UnsupportedPipelineException.class, () -> translate(pipeline))
        .problems();
  }

  static List<String> names(List<? extends Step> steps) {
    return steps.stream().map(Step::fullName).toList();
  }

  static Step step(Plan plan, String fullName) {
    return plan.steps().stream()
        .filter(step -> step.fullName().equals(fullName))
        .findFirst()
        .orElseThrow(() -> new AssertionError(fullName + " is not among " + names(plan.steps())));
  }

  static <StepT extends Step> List<StepT> steps(Plan plan, Class<StepT> type) {
    return plan.steps().stream().filter(type::isInstance).map(type::cast).toList();
  }

  /** Passes elements on. */
  static final class PassFn<T> extends DoFn<T, T> {
    @ProcessElement
    public void processElement(@Element T element, OutputReceiver<T> output) {
      output.output(element);
    }
  }

  /** A source of strings that is only translated, never read. */
  static final class StringsSource
      extends UnboundedSource<String, UnboundedSource.CheckpointMark.NoopCheckpointMark> {
    private final boolean requiresDeduping;

    StringsSource(boolean requiresDeduping) {
      this.requiresDeduping = requiresDeduping;
    }

    @Override
    public List<StringsSource> split(int desiredNumSplits, PipelineOptions options) {
      return List.of(this);
    }

    @Override
    public UnboundedReader<String> createReader(
        PipelineOptions options, CheckpointMark.NoopCheckpointMark mark) {
      throw new IllegalStateException("Only translated, never read.");
    }

    @Override
    public Coder<CheckpointMark.NoopCheckpointMark> getCheckpointMarkCoder() {
      return null;
    }

    @Override
    public boolean requiresDeduping() {
      return requiresDeduping;
    }

    @Override
    public Coder<String> getOutputCoder() {
      return StringUtf8Coder.of();
    }
  }
}
