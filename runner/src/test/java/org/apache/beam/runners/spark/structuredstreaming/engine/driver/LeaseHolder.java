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

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.beam.runners.spark.structuredstreaming.testing.LocalFilesBySchemeOnly;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.execution.streaming.CheckpointFileManager$;

/** Holds a lease until it is lost or the process ends: a driver as far as its checkpoint can tell. */
final class LeaseHolder {
  private LeaseHolder() {}

  /**
   * Takes a lease and holds it.
   *
   * @param arguments the directory of the lease, and its time in milliseconds
   */
  public static void main(String[] arguments) throws IOException {
    try (CheckpointLease lease = take(arguments[0], Long.parseLong(arguments[1]))) {
      System.out.println("held");
      while (!lease.isLost()) {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
      }
      System.out.println("lost");
    }
  }

  static CheckpointLease take(String directory, long leaseMillis) throws IOException {
    Path path = new Path(directory);
    Configuration configuration = LocalFilesBySchemeOnly.configuration();
    return CheckpointLease.take(
        path,
        configuration,
        CheckpointFileManager$.MODULE$.create(path, configuration),
        "job-of-" + ProcessHandle.current().pid(),
        leaseMillis);
  }
}
