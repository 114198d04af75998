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

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * What holds for the calls on sources, whatever fails. Of each reader:
 *
 * <ul>
 *   <li>it is created for epoch 0 without a mark, for epoch {@code e} with one that was taken in {@code
 *       e - 1};
 *   <li>{@code start} is called once, before {@code advance} and {@code getCheckpointMark};
 *   <li>one mark is taken in an epoch at most;
 *   <li>marks are finalized at most once each, in the order in which they were taken, and only if the
 *       epoch that ends with them is committed;
 *   <li>it is closed once, unless its executor or driver is killed, and not used any more then.
 * </ul>
 */
final class CallRules {
  private final Set<Long> killed;
  private final List<String> violations = new ArrayList<>();
  private final Map<String, Reader> readers = new HashMap<>();
  private final Set<String> finalized = new HashSet<>();

  private CallRules(Set<Long> killed) {
    this.killed = killed;
  }

  /** What is known of a reader. */
  private static final class Reader {
    private final CallLog.Call created;
    private boolean started;
    private boolean closed;
    private long lastMarkEpoch = -1;
    private long lastFinalizedEpoch = -1;

    Reader(CallLog.Call created) {
      this.created = created;
    }
  }

  /**
   * The breaches of the rules.
   *
   * @param killed the processes that were killed
   */
  static List<String> violations(List<CallLog.Call> calls, Set<Long> killed) {
    CallRules rules = new CallRules(killed);
    calls.forEach(rules::check);
    rules.checkClosed();
    return rules.violations;
  }

  /** For each split the epochs whose marks were taken and never finalized. */
  static Map<String, List<Long>> unfinalized(List<CallLog.Call> calls) {
    Set<String> finalized = new HashSet<>();
    Map<String, List<Long>> unfinalized = new TreeMap<>();
    for (CallLog.Call call : calls) {
      if (call.kind() == CallLog.Kind.FINALIZE) {
        finalized.add(call.mark());
      }
    }
    for (CallLog.Call call : calls) {
      if (call.kind() == CallLog.Kind.MARK && !finalized.contains(call.mark())) {
        unfinalized.computeIfAbsent(call.ofSplit(), split -> new ArrayList<>()).add(call.markEpoch());
      }
    }
    return unfinalized;
  }

  /** How many splits were read to an end more than once for an epoch, and not to the same record. */
  static long readOtherwise(List<CallLog.Call> calls) {
    Map<String, Integer> asked = new HashMap<>();
    Map<String, Set<Integer>> ends = new HashMap<>();
    for (CallLog.Call call : calls) {
      String split = call.ofSplit() + " " + call.epoch();
      if (call.kind() == CallLog.Kind.START || call.kind() == CallLog.Kind.ADVANCE) {
        asked.merge(split + " " + call.reader(), 1, Integer::sum);
      } else if (call.kind() == CallLog.Kind.MARK) {
        Integer end = asked.get(split + " " + call.reader());
        ends.computeIfAbsent(split, epoch -> new HashSet<>()).add(end);
      }
    }
    return ends.values().stream().filter(different -> different.size() > 1).count();
  }

  private void demand(boolean holds, CallLog.Call call, String rule) {
    if (!holds) {
      violations.add(rule + ": " + call);
    }
  }

  private void check(CallLog.Call call) {
    if (call.kind() == CallLog.Kind.CREATE) {
      demand(readers.put(call.reader(), new Reader(call)) == null, call, "created twice");
      boolean positioned = call.epoch() == 0 ? call.mark().isEmpty() : call.markEpoch() == call.epoch() - 1;
      demand(positioned, call, "created with the mark of another epoch");
      return;
    }
    Reader reader = readers.get(call.reader());
    demand(!reader.closed, call, "used after it was closed");
    switch (call.kind()) {
      case START -> {
        demand(!reader.started, call, "started twice");
        reader.started = true;
      }
      case ADVANCE -> demand(reader.started, call, "advanced before it was started");
      case MARK -> {
        demand(reader.started, call, "a mark before it was started");
        demand(call.markEpoch() > reader.lastMarkEpoch, call, "a second mark in an epoch");
        reader.lastMarkEpoch = call.markEpoch();
      }
      case FINALIZE -> {
        demand(finalized.add(call.mark()), call, "finalized twice");
        demand(call.committed(), call, "finalized before its epoch was committed");
        demand(call.markEpoch() > reader.lastFinalizedEpoch, call, "finalized out of order");
        reader.lastFinalizedEpoch = call.markEpoch();
      }
      default -> reader.closed = true;
    }
  }

  private void checkClosed() {
    for (Reader reader : readers.values()) {
      CallLog.Call created = reader.created;
      if (!killed.contains(created.process()) && !killed.contains(created.driver())) {
        demand(reader.closed, created, "never closed");
      }
    }
  }
}
