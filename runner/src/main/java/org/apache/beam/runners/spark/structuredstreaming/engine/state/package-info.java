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
/**
 * State, timers and watermark holds of the steps on one level and partition, as rows {@code
 * (prefix, suffix) -> value} of one Spark state store.
 *
 * <p>From the store upwards: {@code StoreStateRows} is the store, {@code CachedStateRows} the
 * write-back cache of one epoch over it, {@code StepRows} one step's share with its row and byte
 * totals, and {@code StepStateContext} what Beam sees of it: the state and timer internals of each
 * key, the timers that are due and the earliest hold. Everything here belongs to one task and is
 * used by its thread alone.
 *
 * <p>Bytes order nothing: only one of Spark's stores returns a prefix in order, so every order that
 * matters is made here.
 */
package org.apache.beam.runners.spark.structuredstreaming.engine.state;
