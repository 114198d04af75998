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
import java.io.UncheckedIOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether a pipeline drains, and from which epoch on. One for all starts of a pipeline's query.
 *
 * <pre>
 * isDraining(e) = e >= first, with first the epoch that began first behind the request
 * </pre>
 *
 * <p>{@code first} is in the checkpoint before its epoch is planned or entered into Spark's log, and
 * never changes. So an epoch that is run again decides as it did, whoever runs it; an epoch that was
 * logged before is run again without draining; and a pipeline that is started again goes on draining,
 * whether it is asked to or not.
 *
 * <p>Any thread may ask for it; the query's thread decides.
 */
final class Drain {
  private static final Logger LOG = LoggerFactory.getLogger(Drain.class);
  private static final long NONE = Long.MAX_VALUE;

  private final CheckpointDirectory checkpoint;
  private volatile boolean requested;
  private volatile long first;

  private Drain(CheckpointDirectory checkpoint, boolean requested, long first) {
    this.checkpoint = checkpoint;
    this.requested = requested;
    this.first = first;
  }

  /**
   * As the checkpoint has it.
   *
   * @param nextEpoch the epoch that runs next
   * @throws IllegalStateException if the checkpoint's note of it is damaged or does not fit its epochs
   */
  static Drain of(CheckpointDirectory checkpoint, long nextEpoch) {
    Long noted = checkpoint.readFirstDraining();
    if (noted == null) {
      return new Drain(checkpoint, false, NONE);
    }
    if (noted < 0 || noted > nextEpoch) {
      throw checkpoint.doesNotFit(noted, nextEpoch);
    }
    return new Drain(checkpoint, true, noted);
  }

  /** Lets the pipeline drain from the next epoch on that begins. Does nothing if it does already. */
  void request() {
    requested = true;
  }

  /** Whether the next epoch is to begin at once, as the drain begins with it. */
  boolean isWaitingForEpoch() {
    return requested && first == NONE;
  }

  /**
   * Told of every epoch that is about to begin, before it is planned.
   *
   * @throws UncheckedIOException if it cannot be noted that the drain begins with this epoch; it does
   *     not begin then
   */
  void epochBegins(long epoch) {
    if (isWaitingForEpoch()) {
      try {
        checkpoint.writeFirstDraining(epoch);
      } catch (IOException e) {
        throw new UncheckedIOException(
            "That the pipeline drains from epoch " + epoch + " on cannot be written to "
                + checkpoint.location() + ": " + e.getMessage(),
            e);
      }
      first = epoch;
      LOG.info("The pipeline of {} drains from epoch {} on", checkpoint.location(), epoch);
    }
  }

  boolean isDraining(long epoch) {
    return epoch >= first;
  }
}
