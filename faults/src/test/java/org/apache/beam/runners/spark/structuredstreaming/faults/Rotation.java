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
package org.apache.beam.runners.spark.structuredstreaming.faults;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Which pipelines meet which faults. In the short form each schedule of faults meets one set of
 * pipelines, which run as one; in the long form it meets every pipeline by itself, and all of them
 * together.
 */
final class Rotation {
  /** Property of the system: whether the long form is run. */
  static final String LONG = "faults.long";

  private Rotation() {}

  static List<SeededPipeline> all() {
    return List.of(SeededPipeline.values());
  }

  /** The sets of pipelines for a schedule whose short form has these. */
  static List<List<SeededPipeline>> of(SeededPipeline... brief) {
    List<List<SeededPipeline>> sets = new ArrayList<>();
    sets.add(List.of(brief));
    if (Boolean.getBoolean(LONG)) {
      for (SeededPipeline pipeline : SeededPipeline.values()) {
        sets.add(List.of(pipeline));
      }
      sets.add(all());
    }
    return sets;
  }

  /** As {@link #of}, for a schedule that has a fault for the pipeline that drops repeated records. */
  static List<List<SeededPipeline>> withDeduplication(SeededPipeline... brief) {
    List<List<SeededPipeline>> sets = new ArrayList<>();
    for (List<SeededPipeline> set : of(brief)) {
      Set<SeededPipeline> more = new TreeSet<>(set);
      more.add(SeededPipeline.DEDUPLICATION);
      sets.add(List.copyOf(more));
    }
    return sets;
  }
}
