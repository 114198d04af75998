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

/** Passes an interruption on through methods that declare no checked exception. */
public final class Interruption {
  private Interruption() {}

  /**
   * Throws the exception as it is: Spark tells by its type that a query's thread was interrupted in
   * order to stop, and does not count it as a failure of the query.
   */
  public static RuntimeException rethrown(InterruptedException interruption) {
    return Interruption.<RuntimeException>unchecked(interruption);
  }

  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // the cast is never executed
  private static <E extends Throwable> RuntimeException unchecked(Throwable failure) throws E {
    throw (E) failure;
  }
}
