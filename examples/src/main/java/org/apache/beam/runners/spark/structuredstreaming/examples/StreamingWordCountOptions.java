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
package org.apache.beam.runners.spark.structuredstreaming.examples;

import java.util.List;
import org.apache.beam.sdk.options.Default;
import org.apache.beam.sdk.options.DefaultValueFactory;
import org.apache.beam.sdk.options.Description;
import org.apache.beam.sdk.options.PipelineOptions;

/** Options of {@link StreamingWordCount}, beside those of the runner. */
public interface StreamingWordCountOptions extends ReplayOptions {

  @Description(
      "Text files to replay, in UTF-8: paths or globs, separated by commas. Every executor reads"
          + " them at the same path. They must not change while a checkpoint that reads them is in"
          + " use.")
  @Default.InstanceFactory(OwnLicense.class)
  List<String> getInput();

  void setInput(List<String> input);

  @Description("Directory for the results, one file a window.")
  @Default.String("target/wordcount-output")
  String getOutput();

  void setOutput(String output);

  @Description("Event time of the first line, as an ISO 8601 instant.")
  @Default.String("2024-01-01T00:00:00Z")
  String getStartTime();

  void setStartTime(String startTime);

  @Description("Milliseconds of event time from one line to the next.")
  @Default.Long(1000)
  long getLineIntervalMillis();

  void setLineIntervalMillis(long millis);

  @Description("Length of the windows in seconds of event time.")
  @Default.Long(20)
  long getWindowSeconds();

  void setWindowSeconds(long seconds);

  /** The text that a checkout of this project has in its root directory. */
  class OwnLicense implements DefaultValueFactory<List<String>> {
    @Override
    public List<String> create(PipelineOptions options) {
      return List.of("LICENSE");
    }
  }
}
