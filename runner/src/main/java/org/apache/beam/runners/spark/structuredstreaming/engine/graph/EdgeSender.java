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

/**
 * The end of a task's work on one edge: encodes what reaches it into shuffle records. The body of
 * the records is what the receiving step's runner reads.
 */
abstract class EdgeSender implements ElementReceiver {
  private final EdgeChannel channel;
  private long sent;

  EdgeSender(EdgeChannel channel) {
    this.channel = channel;
  }

  final EdgeChannel channel() {
    return channel;
  }

  final String target() {
    return channel.edge().target().fullName();
  }

  final int edgeIndex() {
    return channel.edge().index();
  }

  /** Counts elements taken, before any combining. */
  final void countElement() {
    sent++;
  }

  /** Elements taken since the last call. */
  final long takeSent() {
    long taken = sent;
    sent = 0;
    return taken;
  }

  /** Called when no more elements come in this epoch: sends whatever is kept back. */
  void finish() {}

  /** Called when an epoch starts: forgets what a failed one left behind. */
  void startEpoch() {}

  final StepFailedException failure(String doing, Throwable cause) {
    return new StepFailedException(
        target(), doing + " of " + channel.edge().collection().name(), cause);
  }
}
