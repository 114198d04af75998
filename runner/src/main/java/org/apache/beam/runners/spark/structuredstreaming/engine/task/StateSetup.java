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
import java.util.UUID;
import org.apache.spark.sql.execution.streaming.state.StateStoreConf;
import org.apache.spark.util.SerializableConfiguration;

/**
 * Where a query keeps its state, and how.
 *
 * @param checkpointId of the checkpoint whose state it is, the same for all its starts
 * @param location root of the state stores
 */
public record StateSetup(
    UUID checkpointId, String location, StateStoreConf conf, SerializableConfiguration hadoopConf)
    implements Serializable {}
