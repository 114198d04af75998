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

import org.apache.beam.sdk.util.SerializableUtils;

/** Reads objects of the user's classes that the driver or an earlier start has serialized. */
public final class ShippedObject {
  private ShippedObject() {}

  /**
   * The object that the bytes hold.
   *
   * @param what what it is, for errors; names the transform where it is of one
   * @throws IllegalStateException if it cannot be read: a class that is missing shows in many ways, as
   *     a {@link ClassCastException} that names only classes of the JDK among them
   */
  public static Object decode(byte[] bytes, String what) {
    try {
      return SerializableUtils.deserializeFromByteArray(bytes, what);
    } catch (RuntimeException | LinkageError e) {
      throw new IllegalStateException(
          what + " cannot be read in the JVM of the executor or driver that needs it: "
              + (e.getCause() == null ? e : e.getCause())
              + ". A class of the pipeline may be missing there, or be of another version than the one"
              + " that was serialized. Send all jars of the pipeline to the executors, by"
              + " --filesToStage, spark.jars or spark-submit, and go on with a checkpoint with the"
              + " classes it was begun with.",
          e);
    }
  }
}
