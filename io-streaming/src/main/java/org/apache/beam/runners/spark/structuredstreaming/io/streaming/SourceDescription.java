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
package org.apache.beam.runners.spark.structuredstreaming.io.streaming;

import java.io.Serializable;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.beam.runners.core.construction.SerializablePipelineOptions;
import org.apache.spark.util.SerializableConfiguration;

/**
 * What the executors need to know of one source for the life of a query. It is serialized by Java,
 * whatever serializer the session has, broadcast once as bytes, and read back once in each JVM.
 * Immutable.
 */
final class SourceDescription implements Serializable {
  /** Descriptions in this JVM by id, those of most recent use last. */
  private static final Map<String, SourceDescription> DESCRIPTIONS =
      new LinkedHashMap<>(16, 0.75f, true);

  /** More sources than one executor reads at a time; what falls out is read from the bytes again. */
  private static final int MAX_DESCRIPTIONS = 256;

  private final String application;
  private final String fullName;
  private final int sourceIndex;
  private final String checkpointDir;
  private final long stableId;
  private final SerializablePipelineOptions options;
  private final ReadLimits limits;
  private final long readerIdleTimeoutMillis;
  private final int minEpochsToRetain;
  private final long resumedEpoch;
  private final List<byte[]> splits;
  private final SerializableConfiguration configuration;
  private transient volatile BeamSourceCheckpoint checkpoint;

  /**
   * @param application identifies the Spark application among all that ever used the checkpoint
   * @param splits the serialized splits; none if the source split into nothing
   */
  SourceDescription(
      String application,
      SourceRegistration registration,
      List<byte[]> splits,
      SerializableConfiguration configuration) {
    this.application = application;
    this.fullName = registration.fullName();
    this.sourceIndex = registration.sourceIndex();
    this.checkpointDir = registration.checkpointDir();
    this.stableId = registration.stableId();
    this.options = registration.options();
    this.limits = registration.limits();
    this.readerIdleTimeoutMillis = registration.readerIdleTimeoutMillis();
    this.minEpochsToRetain = registration.minEpochsToRetain();
    this.resumedEpoch = registration.resumedEpoch();
    this.splits = List.copyOf(splits);
    this.configuration = configuration;
  }

  /** The description that the bytes hold; they are asked for once in this JVM, as long as it lasts. */
  static SourceDescription load(String id, Supplier<byte[]> bytes) {
    synchronized (DESCRIPTIONS) {
      SourceDescription known = DESCRIPTIONS.get(id);
      if (known != null) {
        return known;
      }
    }
    SourceDescription loaded =
        (SourceDescription)
            ShippedObject.decode(bytes.get(), "the description of source " + id);
    synchronized (DESCRIPTIONS) {
      SourceDescription first = DESCRIPTIONS.putIfAbsent(id, loaded);
      if (DESCRIPTIONS.size() > MAX_DESCRIPTIONS) {
        Iterator<String> eldest = DESCRIPTIONS.keySet().iterator();
        eldest.next();
        eldest.remove();
      }
      return first != null ? first : loaded;
    }
  }

  /** Forgets in this JVM the descriptions of a query that has ended. */
  static void unload(String checkpointDir) {
    synchronized (DESCRIPTIONS) {
      DESCRIPTIONS.values().removeIf(known -> known.checkpointDir.equals(checkpointDir));
    }
  }

  String application() {
    return application;
  }

  String fullName() {
    return fullName;
  }

  int sourceIndex() {
    return sourceIndex;
  }

  SerializablePipelineOptions options() {
    return options;
  }

  ReadLimits limits() {
    return limits;
  }

  long readerIdleTimeoutMillis() {
    return readerIdleTimeoutMillis;
  }

  int minEpochsToRetain() {
    return minEpochsToRetain;
  }

  long resumedEpoch() {
    return resumedEpoch;
  }

  /** The serialized splits by split id. */
  List<byte[]> splits() {
    return splits;
  }

  /** Key of a split's reader in the {@link BeamReaderCache}. */
  String readerKey(int splitId) {
    return BeamReaderCache.key(BeamSourceCheckpoint.directory(checkpointDir, stableId), splitId);
  }

  /** The source's durable files, as this JVM reaches them. */
  BeamSourceCheckpoint checkpoint() {
    BeamSourceCheckpoint files = checkpoint;
    if (files == null) {
      files = new BeamSourceCheckpoint(checkpointDir, stableId, fullName, configuration);
      checkpoint = files;
    }
    return files;
  }
}
