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
package org.apache.beam.runners.spark.structuredstreaming.engine.graph;

import java.io.IOException;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteOutput;
import org.apache.beam.sdk.transforms.windowing.PaneInfo.PaneInfoCoder;
import org.apache.beam.sdk.values.WindowedValue;

/**
 * Sends KVs to a step that works on whole elements of a key.
 *
 * <p>Before the windows of a record stands the {@code pane}.
 */
final class KeyedElementSender extends KeyedSender {
  KeyedElementSender(EdgeChannel channel) {
    super(channel);
  }

  @Override
  void writeDetails(WindowedValue<Object> element, ByteOutput bytes) throws IOException {
    PaneInfoCoder.INSTANCE.encode(element.getPaneInfo(), bytes);
  }
}
