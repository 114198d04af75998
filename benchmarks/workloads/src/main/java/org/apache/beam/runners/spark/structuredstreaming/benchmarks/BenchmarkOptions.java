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
package org.apache.beam.runners.spark.structuredstreaming.benchmarks;

import org.apache.beam.sdk.options.Default;
import org.apache.beam.sdk.options.Description;
import org.apache.beam.sdk.options.PipelineOptions;

/** Options of a measurement, beside those of the runner that is measured. */
public interface BenchmarkOptions extends PipelineOptions {
  @Description("Name of the workload.")
  @Default.String("sum")
  String getWorkload();

  void setWorkload(String workload);

  @Description("Records that are read.")
  @Default.Long(1_000_000)
  Long getRecords();

  void setRecords(Long records);

  @Description("Seconds after which a run counts as unfinished.")
  @Default.Long(300)
  Long getLimitSeconds();

  void setLimitSeconds(Long seconds);
}
