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

import java.util.Set;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** One registered source as a table that Spark can read in micro-batches, and in no other way. */
final class BeamSourceTable implements SupportsRead, Scan {
  /** A placeholder: the one column stands for the live element in a {@link BeamRow}. */
  static final StructType SCHEMA = new StructType().add("element", DataTypes.BinaryType, false);

  private final SourceRegistration registration;

  BeamSourceTable(SourceRegistration registration) {
    this.registration = registration;
  }

  @Override
  public String name() {
    return registration.fullName();
  }

  @Override
  @SuppressWarnings("deprecation") // Table.schema() is abstract; its successor has a default
  public StructType schema() {
    return SCHEMA;
  }

  @Override
  public Set<TableCapability> capabilities() {
    return Set.of(TableCapability.MICRO_BATCH_READ);
  }

  @Override
  public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
    return () -> this;
  }

  @Override
  public StructType readSchema() {
    return SCHEMA;
  }

  @Override
  public String description() {
    return registration.fullName();
  }

  @Override
  public ColumnarSupportMode columnarSupportMode() {
    return ColumnarSupportMode.UNSUPPORTED;
  }

  /** Called once for each start of a query; Spark's own metadata path is not used. */
  @Override
  public MicroBatchStream toMicroBatchStream(String checkpointLocation) {
    return new BeamMicroBatchStream(registration);
  }

  @Override
  public String toString() {
    return registration.fullName();
  }
}
