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
package org.apache.beam.runners.spark.structuredstreaming.engine.task;

import java.io.Serializable;

/**
 * What a task read from its split in one epoch.
 *
 * @param rows elements read
 * @param minEventTimeMillis earliest timestamp, meaningless without rows
 * @param maxEventTimeMillis latest timestamp, meaningless without rows
 * @param averageEventTimeMillis mean timestamp, meaningless without rows
 * @param readNanos from the first row asked for to the last, with all that is fused behind the source
 * @param backlogBytes what the source says is left to read, -1 if unknown
 */
public record SourceReport(
    int sourceIndex,
    int splitId,
    long watermarkMillis,
    long rows,
    long minEventTimeMillis,
    long maxEventTimeMillis,
    long averageEventTimeMillis,
    long readNanos,
    long backlogBytes)
    implements Serializable {}
