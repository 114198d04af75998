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
package org.apache.beam.runners.spark.structuredstreaming.faults;

import java.nio.file.Path;
import java.util.List;

/** What Beam's methods were called on the readers of a run, in order, over all processes. */
final class CallLog {
  private static final String FILE = "calls";

  private final EventLog log;

  CallLog(Path directory) {
    log = new EventLog(directory.resolve(FILE));
  }

  static CallLog ofRun() {
    return new CallLog(FaultPoints.directory());
  }

  /** The methods of sources, readers and marks. */
  enum Kind {
    CREATE,
    START,
    ADVANCE,
    MARK,
    FINALIZE,
    CLOSE
  }

  /**
   * A call.
   *
   * @param driver the process of the driver
   * @param epoch that of the task whose thread called, -1 outside of one
   * @param mark the mark it is about: that of a new reader, the one taken or finalized; else empty
   * @param markEpoch the epoch whose task took that mark
   * @param committed whether that epoch was committed when its mark was finalized
   */
  record Call(
      long process,
      long driver,
      String reader,
      String source,
      int split,
      Kind kind,
      long epoch,
      String mark,
      long markEpoch,
      boolean committed) {

    String ofSplit() {
      return source + " " + split;
    }
  }

  void add(Call call) {
    log.add(
        call.kind.name(),
        call.process,
        call.driver,
        call.reader,
        call.source,
        call.split,
        call.epoch,
        call.mark,
        call.markEpoch,
        call.committed);
  }

  List<Call> calls() {
    return log.events().stream().map(CallLog::parse).toList();
  }

  private static Call parse(EventLog.Event event) {
    List<String> details = event.details();
    return new Call(
        Long.parseLong(details.get(0)),
        Long.parseLong(details.get(1)),
        details.get(2),
        details.get(3),
        Integer.parseInt(details.get(4)),
        Kind.valueOf(event.kind()),
        Long.parseLong(details.get(5)),
        details.get(6),
        Long.parseLong(details.get(7)),
        Boolean.parseBoolean(details.get(8)));
  }
}
