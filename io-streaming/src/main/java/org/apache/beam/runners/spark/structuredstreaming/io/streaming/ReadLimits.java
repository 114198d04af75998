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

/**
 * How much one source may read in one epoch. Both limits are soft only in the sense that a record
 * already being read is finished.
 *
 * @param maxRecordsPerMicroBatch most records of the whole source, all splits together, in one
 *     epoch; zero or less means no such limit
 * @param maxBatchDurationMillis how long a task reads, in milliseconds from its first record on;
 *     zero or less means no such limit
 */
public record ReadLimits(long maxRecordsPerMicroBatch, long maxBatchDurationMillis)
    implements Serializable {}
