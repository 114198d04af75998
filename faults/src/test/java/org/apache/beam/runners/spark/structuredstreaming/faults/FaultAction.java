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

/** What happens to a process that passes a point of the schedule. Kills are SIGKILL. */
enum FaultAction {
  /** This executor dies; passed by the driver, one of its executors does. */
  KILL_EXECUTOR,

  /** Two executors die at once, this one among them if it is one. */
  KILL_TWO_EXECUTORS,

  /** All executors of the application die. */
  KILL_ALL_EXECUTORS,

  /** The driver dies, of this executor or this process. */
  KILL_DRIVER,

  /** Whoever passes gets an exception. */
  FAIL,

  /** The thread stays here until it is interrupted, and the program is asked to cancel the pipeline. */
  HANG,

  /** The thread stays here, interrupted or not, until somebody comes to a {@link #RELEASE}. */
  OUTLIVE,

  /** Lets threads go on that are in {@link #OUTLIVE}. */
  RELEASE,

  /** The thread stays here until it is interrupted. */
  SLOW,

  /** The thread stays here until the test lets it go on: see {@link FaultPoints#GO_ON}. */
  AWAIT_TEST,

  /** Every file that a shuffle has written is deleted, on all executors. */
  LOSE_SHUFFLE,

  /** Whoever passes knows what to do. */
  TOLD
}
