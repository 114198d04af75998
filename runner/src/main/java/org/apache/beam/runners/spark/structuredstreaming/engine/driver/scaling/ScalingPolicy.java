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
package org.apache.beam.runners.spark.structuredstreaming.engine.driver.scaling;

/**
 * How many executors a load asks for. With {@code n} executors and the load {@code r}, the mean
 * processing time of epochs over the trigger interval:
 *
 * <pre>
 * change(r, n) = min - n                                    if n &lt; min
 *              = -1                                         if n &gt; max
 *              = min(max(round(r), 1), max - n)             if r &gt;= up
 *              = -1                                         if r &lt;= down and n &gt; min
 *              = 0                                          otherwise
 * </pre>
 *
 * <p>Work that divides evenly makes {@code r * n / (n - 1)} of {@code r} when one of {@code n >= 2}
 * executors goes, twice {@code r} at most: with {@code 2 * down < up} a release alone never brings
 * about the request that would undo it.
 *
 * @param upRatio {@code up}, greater than {@code down}
 * @param downRatio {@code down}, greater than 0
 * @param minExecutors {@code min}, at least 1
 * @param maxExecutors {@code max}, at least {@code min}
 */
record ScalingPolicy(double upRatio, double downRatio, int minExecutors, int maxExecutors) {
  /** The number of executors to ask for, beyond those there are; -1 to release one; 0 for neither. */
  int change(double load, int executors) {
    if (executors < minExecutors) {
      return minExecutors - executors;
    }
    if (executors > maxExecutors) {
      return -1;
    }
    if (load >= upRatio) {
      return (int) Math.min(Math.max(Math.round(load), 1), maxExecutors - executors);
    }
    return load <= downRatio && executors > minExecutors ? -1 : 0;
  }
}
