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
package org.apache.beam.runners.spark.structuredstreaming.engine.driver;

import java.util.ArrayList;
import java.util.List;

/** Says when an epoch would have far more tasks than there are cores to run them. */
public final class TaskCounts {
  /**
   * Most partitions of keyed work, and most splits that a source is asked for. A task of a level sends its
   * watermark to each, and every epoch has a task for each.
   */
  public static final int MOST_PARTITIONS = 10_000;

  private static final int MOST_PER_CORE = 64;

  private TaskCounts() {}

  /**
   * What to warn of, nothing if all is well.
   *
   * @param parallelism partitions of keyed work, as they are and not as they were asked for
   * @param sourceSplits splits that each source is asked for, 0 for as many as there are cores
   * @param cores that Spark has
   */
  static List<String> warnings(int parallelism, int sourceSplits, int cores) {
    List<String> warnings = new ArrayList<>();
    if (parallelism > (long) MOST_PER_CORE * cores) {
      warnings.add(warning("A parallelism of " + parallelism, cores));
    }
    if (sourceSplits > (long) MOST_PER_CORE * cores) {
      warnings.add(warning("--sourceSplits=" + sourceSplits, cores));
    }
    return warnings;
  }

  private static String warning(String number, int cores) {
    return number + " is more than " + MOST_PER_CORE + " for each of the " + cores
        + " cores that Spark has: every epoch runs a task for each, one after the other";
  }
}
