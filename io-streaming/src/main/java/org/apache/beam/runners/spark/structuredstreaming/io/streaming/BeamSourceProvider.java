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

import java.util.Map;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * Spark's entry to a registered Beam source: {@code
 * spark.readStream().format(BeamSourceProvider.class.getName())} with the options {@value
 * #REGISTRATION_OPTION} and {@value #SOURCE_OPTION}. Spark makes an instance by its public
 * constructor on the driver.
 *
 * <p>The rows are live {@link BeamRow}s and can only be taken from the scan itself ({@code
 * MicroBatchScanExec.execute()}); any Spark operator above the scan would copy them by a schema
 * they do not follow.
 */
public final class BeamSourceProvider implements TableProvider {
  /** Option: the key given to {@link BeamSourceRegistry#register}. */
  public static final String REGISTRATION_OPTION = "registration";

  /** Option: the source's index in the registration, a decimal number. */
  public static final String SOURCE_OPTION = "source";

  /** For Spark. */
  public BeamSourceProvider() {}

  @Override
  public StructType inferSchema(CaseInsensitiveStringMap options) {
    return BeamSourceTable.SCHEMA;
  }

  @Override
  public Table getTable(
      StructType schema, Transform[] partitioning, Map<String, String> properties) {
    CaseInsensitiveStringMap options = new CaseInsensitiveStringMap(properties);
    String index = required(options, SOURCE_OPTION);
    int sourceIndex;
    try {
      sourceIndex = Integer.parseInt(index);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "The option '" + SOURCE_OPTION + "' must be a source's index, not '" + index + "'.", e);
    }
    return new BeamSourceTable(
        BeamSourceRegistry.get(required(options, REGISTRATION_OPTION), sourceIndex));
  }

  private static String required(CaseInsensitiveStringMap options, String name) {
    String value = options.get(name);
    if (value == null) {
      throw new IllegalArgumentException(
          "The option '" + name + "' is missing: " + BeamSourceProvider.class.getSimpleName()
              + " needs '" + REGISTRATION_OPTION + "' and '" + SOURCE_OPTION + "'.");
    }
    return value;
  }
}
