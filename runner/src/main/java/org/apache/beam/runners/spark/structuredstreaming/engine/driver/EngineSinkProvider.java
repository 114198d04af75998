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
package org.apache.beam.runners.spark.structuredstreaming.engine.driver;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.SQLContext;
import org.apache.spark.sql.execution.streaming.Sink;
import org.apache.spark.sql.sources.StreamSinkProvider;
import org.apache.spark.sql.streaming.OutputMode;
import scala.collection.JavaConverters;
import scala.collection.Seq;

/**
 * Brings the engine to Spark as a sink: Spark makes sinks by class name and options, so the engine
 * of a query start is left here under a key and fetched once. Lives in the driver only.
 */
public final class EngineSinkProvider implements StreamSinkProvider {
  static final String REGISTRATION = "registration";

  private static final Map<String, Sink> SINKS = new ConcurrentHashMap<>();

  static void register(String key, Sink sink) {
    SINKS.put(key, sink);
  }

  static void unregister(String key) {
    SINKS.remove(key);
  }

  @Override
  public Sink createSink(
      SQLContext context,
      scala.collection.immutable.Map<String, String> parameters,
      Seq<String> partitionColumns,
      OutputMode outputMode) {
    String key = JavaConverters.mapAsJavaMap(parameters).get(REGISTRATION);
    Sink sink = key == null ? null : SINKS.get(key);
    if (sink == null) {
      throw new IllegalStateException(
          "No Beam pipeline is registered under '" + key + "' in this driver. The sink serves queries"
              + " that the Beam runner starts itself.");
    }
    return sink;
  }
}
