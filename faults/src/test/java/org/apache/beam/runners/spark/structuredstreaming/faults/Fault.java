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

import java.util.regex.Pattern;

/**
 * A fault of a schedule.
 *
 * @param name what it is called in the table of results
 * @param times how often it happens at most, over all processes and starts
 * @param point regular expression, found in the text of the points at which it happens
 */
record Fault(String name, int times, FaultAction action, String point) {
  private static final String SEPARATOR = "\t";

  static Fault once(String name, FaultAction action, String point) {
    return new Fault(name, 1, action, point);
  }

  boolean isAt(String passed) {
    return Pattern.compile(point).matcher(passed).find();
  }

  String encode() {
    return String.join(SEPARATOR, name, Integer.toString(times), action.name(), point);
  }

  static Fault decode(String line) {
    String[] parts = line.split(SEPARATOR, 4);
    return new Fault(parts[0], Integer.parseInt(parts[1]), FaultAction.valueOf(parts[2]), parts[3]);
  }
}
