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
package org.apache.beam.runners.spark.structuredstreaming.comparison;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.is;

import java.io.IOException;
import org.apache.beam.runners.spark.structuredstreaming.testing.LocalCluster;
import org.apache.beam.runners.spark.structuredstreaming.testing.TestSpark;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each pipeline gives on executors in processes of their own what it gives on the DirectRunner. */
@Timeout(300)
class ClusterComparisonTest extends ComparisonCase {
  @RegisterExtension static final TestSpark SPARK = LocalCluster.of(2);

  @ParameterizedTest
  @MethodSource("pipelines")
  void theResultIsThatOfTheDirectRunner(String pipeline) throws IOException {
    assertThat(found(pipeline, SPARK, false), is(expected(pipeline)));
  }
}
