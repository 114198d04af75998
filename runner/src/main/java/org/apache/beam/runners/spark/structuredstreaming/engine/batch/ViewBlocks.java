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
package org.apache.beam.runners.spark.structuredstreaming.engine.batch;

import java.util.List;
import org.apache.beam.runners.spark.structuredstreaming.translation.Edge;
import scala.Product2;
import scala.collection.Iterator;

/** What the lower levels have written of views, as one task can read it. */
interface ViewBlocks {
  /**
   * The task attempts that have written to an edge, in order. As long as they are the same, so is what
   * {@link #read} gives: no attempt has the number of another, and what one has written stays.
   */
  List<Long> writers(Edge edge);

  /** The blocks of an edge to a view. */
  Iterator<Product2<Object, Object>> read(Edge edge);
}
