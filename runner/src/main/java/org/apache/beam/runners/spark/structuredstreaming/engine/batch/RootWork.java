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
package org.apache.beam.runners.spark.structuredstreaming.engine.batch;

import java.io.IOException;
import org.apache.beam.runners.spark.structuredstreaming.engine.keyed.Work;
import org.apache.beam.runners.spark.structuredstreaming.engine.shuffle.RecordInput;

/**
 * What a task of a batch pipeline does for one keyed step of its level, in one partition.
 *
 * <p>Order of calls: {@link #receive} for every record of the shuffle; {@link #group} for every group
 * that was sorted; {@link #finish}. All on the task's thread.
 */
interface RootWork {
  /** Takes one element record, standing at its body, and reads it to its end. */
  void receive(RecordInput record) throws IOException;

  /** Works on the group that {@code groups} stands at, before its first record. */
  Work group(SortedGroups groups);

  /** Ends the bundle of the step's DoFn, where it has one, and counts what came out. */
  void finish();
}
