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
package org.apache.beam.runners.spark.structuredstreaming.engine.keyed;

/**
 * The processing time of an epoch and whether the pipeline drains in it, the same in all its tasks.
 *
 * @param millis since the epoch of time
 * @param drivenByStreams whether the pipeline has TestStreams, whose events say what time it is
 * @param draining whether nothing unbounded is to be begun any more
 */
public record EpochTime(long millis, boolean drivenByStreams, boolean draining) {}
