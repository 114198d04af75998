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
 * The state of a level and partition cannot be opened or is another's: says which, at which version
 * and where. Its cause, if the state store provider has given one, comes by way of {@link
 * FailureTransport}.
 */
public final class StateUnavailableException extends RuntimeException {
  StateUnavailableException(StateStoreProviderId id, long version, Throwable cause) {
    super(
        what(id, version) + " cannot be opened: " + cause
            + ". If files in there, _metadata/schema among them, are damaged or missing: "
            + DurableFile.WHAT_TO_DO,
        FailureTransport.toDriver(cause));
  }

  /**
   * The state is there and is another's.
   *
   * @param found what its files say of it
   */
  StateUnavailableException(StateStoreProviderId id, long version, String found) {
    super(
        what(id, version) + " is another's: " + found + ". A file in there does not belong there. "
            + DurableFile.WHAT_TO_DO);
  }

  private static String what(StateStoreProviderId id, long version) {
    return "The state of level " + id.storeId().operatorId() + ", partition "
        + id.storeId().partitionId() + ", version " + version + " in " + directory(id);
  }

  private static Path directory(StateStoreProviderId id) {
    return id.storeId().storeCheckpointLocation();
  }
}
