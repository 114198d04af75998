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

import java.io.IOException;
import java.io.InvalidClassException;
import java.io.ObjectStreamClass;
import org.apache.beam.sdk.util.SerializableUtils;

/** Reads objects of the user's classes that the driver or an earlier start has serialized. */
public final class ShippedObject {
  private ShippedObject() {}

  /**
   * The object that the bytes hold.
   *
   * @param what what it is, for errors; names the transform where it is of one
   * @throws UnreadableObjectException if it cannot be read: for a class that is missing or of another
   *     version, or because the user's own code of reading it failed
   */
  public static Object decode(byte[] bytes, String what) {
    try {
      return SerializableUtils.deserializeFromByteArray(bytes, what);
    } catch (RuntimeException | LinkageError | StackOverflowError e) {
      Throwable cause = isWrapped(e) ? e.getCause() : e;
      throw new UnreadableObjectException(
          what + " cannot be read in the JVM of the executor or driver that needs it: " + cause
              + (isOfMissingClass(cause)
                  ? ". A class of the pipeline may be missing there, or be of another version than the"
                      + " one that was serialized. Send all jars of the pipeline to the executors, by"
                      + " --filesToStage, spark.jars or spark-submit, and go on with a checkpoint with"
                      + " the classes it was begun with."
                  : ". One of the pipeline's own objects failed when it was deserialized."),
          cause);
    }
  }

  /** Beam wraps what is checked. */
  private static boolean isWrapped(Throwable failure) {
    return failure instanceof IllegalArgumentException
        && (failure.getCause() instanceof IOException
            || failure.getCause() instanceof ClassNotFoundException);
  }

  /**
   * A class that is missing shows in many ways: where a list of it is read, as a {@link
   * ClassCastException} that names only classes of the JDK, thrown by the JDK itself.
   */
  private static boolean isOfMissingClass(Throwable failure) {
    if (failure instanceof ClassCastException) {
      StackTraceElement[] stack = failure.getStackTrace();
      return stack.length > 0 && stack[0].getClassName().startsWith(ObjectStreamClass.class.getName());
    }
    return failure instanceof ClassNotFoundException
        || failure instanceof NoClassDefFoundError
        || failure instanceof InvalidClassException;
  }
}
