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

/** Keys of what a source reports in Spark's progress ({@code sources[i].metrics}). */
public final class SourceMetricNames {
  /** Smallest watermark of the source's splits: an ISO-8601 instant in UTC. */
  public static final String WATERMARK = "watermark";

  /** Smallest event time read in the epoch: an ISO-8601 instant in UTC. */
  public static final String MIN_EVENT_TIME = "minEventTime";

  /** Largest event time read in the epoch: an ISO-8601 instant in UTC. */
  public static final String MAX_EVENT_TIME = "maxEventTime";

  /** Average event time read in the epoch: an ISO-8601 instant in UTC. */
  public static final String AVG_EVENT_TIME = "avgEventTime";

  /** Bytes not yet read, all splits together: a decimal number, absent if a split knows none. */
  public static final String BACKLOG_BYTES = "backlogBytes";

  private SourceMetricNames() {}
}
