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

import java.io.Serializable;

/**
 * Whole lines of a text file.
 *
 * @param path as Beam's file systems write it
 * @param start offset in bytes of the first line
 * @param end offset in bytes behind the last line, which is the start of the next line or the size
 *     of the file
 */
public record TextSegment(String path, long start, long end) implements Serializable {
  public TextSegment {
    if (start < 0 || end < start) {
      throw new IllegalArgumentException(path + " has no bytes from " + start + " to " + end + ".");
    }
  }

  long bytes() {
    return end - start;
  }
}
