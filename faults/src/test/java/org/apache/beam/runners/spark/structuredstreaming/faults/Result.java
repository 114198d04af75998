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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.beam.sdk.values.KV;

/**
 * How what came out compares with what must.
 *
 * @param lost results that are not there, or count fewer elements than they must
 * @param doubled results that are there more than once, or count more elements than they must
 * @param wrong all other results that are not as they must be
 */
record Result(int right, List<String> lost, List<String> doubled, List<String> wrong) {
  static String text(String id, KV<Long, Long> total) {
    return id + "=" + total.getKey() + "/" + total.getValue();
  }

  static Result of(List<SeededPipeline> pipelines, long seed, List<String> results) {
    Map<String, KV<Long, Long>> expected = new TreeMap<>();
    for (SeededPipeline pipeline : pipelines) {
      pipeline.expected(seed).forEach((id, total) -> expected.put(pipeline + "/" + id, total));
    }
    Map<String, List<String>> found = new HashMap<>();
    for (String result : results) {
      int end = result.lastIndexOf('=');
      found.computeIfAbsent(result.substring(0, end), id -> new ArrayList<>()).add(result.substring(end + 1));
    }
    Result result = new Result(0, new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    int right = 0;
    for (Map.Entry<String, KV<Long, Long>> entry : expected.entrySet()) {
      right += result.compare(entry.getKey(), entry.getValue(), found.remove(entry.getKey())) ? 1 : 0;
    }
    found.forEach((id, values) -> result.wrong.add(id + "=" + values + ", which must not be"));
    return new Result(right, result.lost, result.doubled, result.wrong);
  }

  private boolean compare(String id, KV<Long, Long> expected, List<String> values) {
    String right = expected.getKey() + "/" + expected.getValue();
    if (values == null) {
      lost.add(id + " is missing");
      return false;
    }
    String difference = id + "=" + values + " instead of " + right;
    if (values.size() > 1) {
      doubled.add(difference);
      return false;
    }
    String value = values.get(0);
    if (value.equals(right)) {
      return true;
    }
    long count = Long.parseLong(value.substring(0, value.indexOf('/')));
    int counted = Long.compare(count, expected.getKey());
    (counted < 0 ? lost : counted > 0 ? doubled : wrong).add(difference);
    return false;
  }

  boolean isExact() {
    return lost.isEmpty() && doubled.isEmpty() && wrong.isEmpty();
  }

  @Override
  public String toString() {
    return right + " right\nlost: " + lost + "\ndoubled: " + doubled + "\nwrong: " + wrong;
  }
}
