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
package org.apache.beam.runners.spark.structuredstreaming.engine.state;

import org.apache.beam.runners.spark.structuredstreaming.io.streaming.DurableFile;
import org.apache.beam.runners.spark.structuredstreaming.io.streaming.FailureTransport;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.execution.streaming.state.StateStoreProviderId;

/**
 * The state of a level and partition cannot be opened: says which, at which version and where. Its
 * cause is the state store provider's own, by way of {@link FailureTransport}.
 */
public final class StateUnavailableException extends RuntimeException {
  StateUnavailableException(StateStoreProviderId id, long version, Throwable cause) {
    super(
        "The state of level " + id.storeId().operatorId() + ", partition "
            + id.storeId().partitionId() + ", version " + version + " in " + directory(id)
            + " cannot be opened: " + cause + ". If files in there, _metadata/schema among them, are"
            + " damaged or missing: " + DurableFile.WHAT_TO_DO,
        FailureTransport.toDriver(cause));
  }

  private static Path directory(StateStoreProviderId id) {
    return id.storeId().storeCheckpointLocation();
  }
}
