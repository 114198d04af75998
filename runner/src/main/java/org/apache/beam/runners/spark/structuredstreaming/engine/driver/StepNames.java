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

import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.translation.Level;
import org.apache.beam.runners.spark.structuredstreaming.translation.Step;
import org.apache.spark.SparkContext;
import org.apache.spark.util.CallSite;

/**
 * Names stages for Spark's web interface and listeners by the Beam steps that they run. Spark names a
 * stage by the call site at which its RDD was made, which a thread can set: the short form is the
 * name, the long one is shown with the stage's details.
 */
final class StepNames {
  private static final int MOST_CHARACTERS = 120;

  private StepNames() {}

  private static String shorten(List<String> names) {
    String all = String.join(", ", names);
    if (all.length() <= MOST_CHARACTERS) {
      return all;
    }
    String first = names.get(0);
    String shortened =
        first.length() <= MOST_CHARACTERS ? first : first.substring(0, MOST_CHARACTERS) + "...";
    return names.size() == 1 ? shortened : shortened + " and " + (names.size() - 1) + " more";
  }

  /**
   * Names the stage of the RDD that this thread makes next by the steps that its level begins with,
   * those that others are fused into.
   *
   * @return the name, for the RDD too
   */
  static String nameStage(SparkContext context, Level level) {
    List<String> names = level.roots().stream().map(Step::fullName).toList();
    String name = shorten(names);
    String details = "Level " + level.number() + " of Beam steps:\n" + String.join("\n", names);
    context.setCallSite(new CallSite(name, details));
    return name;
  }

  /** Names the stage behind the last level, which has nothing to do. */
  static void nameEnd(SparkContext context, String what) {
    context.setCallSite("End of " + what);
  }
}
