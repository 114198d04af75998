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

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The sources of the running queries, on the driver only. Spark makes a data source from a class
 * name and string options, so the runner leaves the sources here under a key of its choice and
 * passes the key. Thread-safe.
 */
public final class BeamSourceRegistry {
  private static final Map<String, List<SourceRegistration>> REGISTRATIONS =
      new ConcurrentHashMap<>();

  private BeamSourceRegistry() {}

  /**
   * Makes the sources of one query known, before the query's data frame is loaded.
   *
   * @param key a key no other query of this JVM uses
   * @param sources the query's sources in the order of their indices
   * @throws IllegalStateException if the key is in use
   * @throws IllegalArgumentException if a source's index is not its position in the list
   */
  public static void register(String key, List<SourceRegistration> sources) {
    Objects.requireNonNull(key, "key");
    List<SourceRegistration> copy = List.copyOf(sources);
    for (int index = 0; index < copy.size(); index++) {
      if (copy.get(index).sourceIndex() != index) {
        throw new IllegalArgumentException(
            copy.get(index).fullName() + " stands at position " + index
                + " of the registration but has the source index "
                + copy.get(index).sourceIndex() + ".");
      }
    }
    if (REGISTRATIONS.putIfAbsent(key, copy) != null) {
      throw new IllegalStateException(
          "Sources are registered under the key '" + key + "' already: unregister them first.");
    }
  }

  /**
   * One source of a registered query.
   *
   * @throws IllegalStateException if nothing is registered under the key
   * @throws IllegalArgumentException if the query has no source of this index
   */
  public static SourceRegistration get(String key, int index) {
    List<SourceRegistration> sources = REGISTRATIONS.get(key);
    if (sources == null) {
      throw new IllegalStateException(
          "No Beam sources are registered under the key '" + key + "' on this driver. The data"
              + " source serves queries that the Beam runner started in this JVM and that have"
              + " not ended.");
    }
    if (index < 0 || index >= sources.size()) {
      throw new IllegalArgumentException(
          "Source " + index + " asked for, but the registration '" + key + "' has "
              + sources.size() + " source(s).");
    }
    return sources.get(index);
  }

  /** Forgets the sources of one query, once the query has ended. Unknown keys are ignored. */
  public static void unregister(String key) {
    REGISTRATIONS.remove(key);
  }
}
