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

import java.util.Map;
import org.apache.beam.sdk.runners.AppliedPTransform;
import org.apache.beam.sdk.runners.PTransformOverride;
import org.apache.beam.sdk.runners.PTransformOverrideFactory;
import org.apache.beam.sdk.transforms.PTransform;
import org.apache.beam.sdk.util.construction.ReplacementOutputs;
import org.apache.beam.sdk.values.PBegin;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.TupleTag;

/**
 * Reads of KafkaIO that were expanded into splittable DoFns become reads of KafkaIO's source, by the
 * override that KafkaIO offers to runners, wherever the source can do what the read asks for: it has
 * marks, and does not hold up a task while a partition is idle. What only the splittable DoFns can do,
 * such as partitions that appear later or an end by time, stays with them.
 *
 * <p>KafkaIO is no dependency of the runner: the override is taken from the class of the transform that
 * is found in the pipeline.
 */
final class KafkaReads<T>
    implements PTransformOverrideFactory<
        PBegin, PCollection<T>, PTransform<PBegin, PCollection<T>>> {
  static final PTransformOverride OVERRIDE =
      PTransformOverride.of(KafkaReads::isReadOfSource, new KafkaReads<>());

  private static final String SPLITTABLE =
      "org.apache.beam.sdk.io.kafka.KafkaIO$Read$ReadFromKafkaViaSDF";
  private static final String OVERRIDE_FIELD = "KAFKA_READ_OVERRIDE";

  private KafkaReads() {}

  private static boolean isReadOfSource(AppliedPTransform<?, ?, ?> application) {
    return application.getTransform().getClass().getName().equals(SPLITTABLE)
        && sourceCan(application);
  }

  @SuppressWarnings("unchecked") // The name of the transform's class tells what it reads.
  private static <T> boolean sourceCan(AppliedPTransform<?, ?, ?> application) {
    try {
      new KafkaReads<T>()
          .getReplacementTransform(
              (AppliedPTransform<PBegin, PCollection<T>, PTransform<PBegin, PCollection<T>>>)
                  application);
      return true;
    } catch (IllegalStateException e) {
      // So KafkaIO says that its source lacks something the read asks for.
      return false;
    }
  }

  @Override
  public PTransformReplacement<PBegin, PCollection<T>> getReplacementTransform(
      AppliedPTransform<PBegin, PCollection<T>, PTransform<PBegin, PCollection<T>>> application) {
    return KafkaReads.<T>ofKafka(application.getTransform()).getReplacementTransform(application);
  }

  /** The factory of KafkaIO's own override. */
  @SuppressWarnings("unchecked") // It takes the transform that it is a field beside.
  private static <T>
      PTransformOverrideFactory<PBegin, PCollection<T>, PTransform<PBegin, PCollection<T>>> ofKafka(
          PTransform<?, ?> transform) {
    Class<?> read = transform.getClass().getEnclosingClass();
    try {
      PTransformOverride override = (PTransformOverride) read.getField(OVERRIDE_FIELD).get(null);
      return (PTransformOverrideFactory<PBegin, PCollection<T>, PTransform<PBegin, PCollection<T>>>)
          override.getOverrideFactory();
    } catch (ReflectiveOperationException e) {
      throw new UnsupportedOperationException(
          read.getName() + " has no " + OVERRIDE_FIELD + ": this version of KafkaIO is another than the"
              + " runner knows. Use the version of Beam that the runner is built with.",
          e);
    }
  }

  @Override
  public Map<PCollection<?>, ReplacementOutput> mapOutputs(
      Map<TupleTag<?>, PCollection<?>> outputs, PCollection<T> newOutput) {
    return ReplacementOutputs.singleton(outputs, newOutput);
  }
}
