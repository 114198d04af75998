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
package org.apache.beam.runners.spark.structuredstreaming.engine.state;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.beam.runners.core.StateNamespace;
import org.apache.beam.runners.core.StateNamespaces;
import org.apache.beam.runners.core.TimerInternals.TimerData;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteOutput;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.state.TimeDomain;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.joda.time.Instant;

/**
 * The timers of a step in one partition, durable, over all keys. Times are millis.
 *
 * <p>A timer is known by {@code (key, domain, namespace, family, id)}. It has two rows, one by what
 * it is known by and one by its time, the latter below a {@link TimeIndex}:
 *
 * <pre>
 * (step, TIMER_ID, key)          -> (domain, namespace, family, id)        -> (time, output time)
 * (step, TIMER, domain, bucket)  -> (time, key, namespace, family, id)     -> output time
 * </pre>
 *
 * <p>Rules:
 *
 * <ul>
 *   <li>{@code due(timer, now) = timer.time < now or now >= TIMESTAMP_MAX_VALUE}: Beam fires a
 *       timer once time has passed it. Nothing passes the end of time, so there all are due.
 *   <li>Timers become visible, move and go at once; {@link #nextDue} never returns one that was
 *       deleted or set to a later time before the call.
 *   <li>A timer holds the watermark at its output time until it fires, moves or is deleted, unless
 *       that time is after the end of time, which is how Beam says "no output", or the step's timers
 *       hold nothing at all ({@link #withoutHolds}).
 *   <li>A bucket is scanned only if its lower bound says that a timer in it may be due, and then
 *       stays in memory: what an epoch costs does not depend on timers that are not due.
 * </ul>
 */
public final class StepTimers {
  private static final long END_OF_TIME = BoundedWindow.TIMESTAMP_MAX_VALUE.getMillis();

  private final StepRows rows;
  private final Optional<HoldIndex> holds;
  private final Coder<? extends BoundedWindow> windowCoder;
  private final Map<TimeDomain, DomainTimers> domains = new EnumMap<>(TimeDomain.class);
  private long removals;

  /**
   * The timers that the step's rows hold.
   *
   * @param holds where the timers' holds are counted
   */
  public StepTimers(StepRows rows, HoldIndex holds, Coder<? extends BoundedWindow> windowCoder) {
    this(rows, Optional.of(holds), windowCoder);
  }

  private StepTimers(
      StepRows rows, Optional<HoldIndex> holds, Coder<? extends BoundedWindow> windowCoder) {
    this.rows = Objects.requireNonNull(rows, "rows");
    this.holds = holds;
    this.windowCoder = Objects.requireNonNull(windowCoder, "windowCoder");
    for (TimeDomain domain : TimeDomain.values()) {
      domains.put(domain, new DomainTimers(domain));
    }
  }

  /** As the constructor, for a step whose timers do not hold the watermark. */
  static StepTimers withoutHolds(StepRows rows, Coder<? extends BoundedWindow> windowCoder) {
    return new StepTimers(rows, Optional.empty(), windowCoder);
  }

  /** Sets a timer of a key, in place of the one with the same identity if there is one. */
  public void set(byte[] key, TimerData timer) {
    Identity identity =
        new Identity(
            key,
            timer.getDomain(),
            timer.getNamespace().stringKey(),
            timer.getTimerFamilyId(),
            timer.getTimerId());
    byte[] prefix = idPrefix(key);
    byte[] suffix = identity.idSuffix();
    long time = timer.getTimestamp().getMillis();
    long outputTime = timer.getOutputTimestamp().getMillis();
    byte[] old = rows.get(prefix, suffix);
    byte[] value = new ByteOutput(16).writeLong(time).writeLong(outputTime).toByteArray();
    if (old == null) {
      rows.insert(prefix, suffix, value);
    } else if (Arrays.equals(old, value)) {
      return;
    } else {
      rows.put(prefix, suffix, value);
      removeByTime(identity, new ByteInput(old));
    }
    hold(outputTime);
    domains.get(identity.domain).insert(identity.timeSuffix(time), time, outputTime);
  }

  /** Deletes a timer if it is set. */
  public void delete(
      byte[] key, StateNamespace namespace, String family, String id, TimeDomain domain) {
    delete(new Identity(key, domain, namespace.stringKey(), family, id));
  }

  private void delete(Identity identity) {
    byte[] prefix = idPrefix(identity.key);
    byte[] suffix = identity.idSuffix();
    byte[] old = rows.get(prefix, suffix);
    if (old != null) {
      removals++;
      rows.remove(prefix, suffix);
      removeByTime(identity, new ByteInput(old));
    }
  }

  /** Deletes all timers of a key in a namespace: reads the timers of the key. */
  public void deleteAll(byte[] key, StateNamespace namespace) {
    String wanted = namespace.stringKey();
    List<Identity> found = new ArrayList<>();
    rows.forEach(
        idPrefix(key),
        row -> {
          ByteInput reader = new ByteInput(row.suffix());
          TimeDomain domain = domain(reader.readByte());
          if (reader.readText().equals(wanted)) {
            found.add(new Identity(key, domain, wanted, reader.readText(), reader.readText()));
          }
        });
    for (Identity identity : found) {
      delete(identity);
    }
  }

  /**
   * Removes and returns the earliest timer that is due, over all keys; of timers at the same time,
   * the first by key, namespace, family and id, in some fixed order.
   *
   * @param nowMillis the time of {@code domain} now
   * @return null if no timer is due
   */
  public FiredTimer nextDue(TimeDomain domain, long nowMillis) {
    DomainTimers timers = domains.get(domain);
    byte[] timeSuffix = timers.firstDue(nowMillis);
    if (timeSuffix == null) {
      return null;
    }
    ByteInput reader = new ByteInput(timeSuffix);
    long time = reader.readOrderedLong();
    byte[] key = reader.readSized();
    Identity identity = new Identity(key, domain, reader.readText(), reader.readText(), reader.readText());
    removals++;
    long outputTime = timers.remove(timeSuffix, time);
    release(outputTime);
    rows.remove(idPrefix(key), identity.idSuffix());
    StateNamespace namespace = StateNamespaces.fromString(identity.namespace, windowCoder);
    return new FiredTimer(
        key,
        TimerData.of(
            identity.id,
            identity.family,
            namespace,
            Instant.ofEpochMilli(time),
            Instant.ofEpochMilli(outputTime),
            domain));
  }

  /**
   * The time of the timer that {@link #nextDue} would return.
   *
   * @return {@link Long#MAX_VALUE} if no timer is due
   */
  public long firstDue(TimeDomain domain, long nowMillis) {
    byte[] timeSuffix = domains.get(domain).firstDue(nowMillis);
    return timeSuffix == null ? Long.MAX_VALUE : new ByteInput(timeSuffix).readOrderedLong();
  }

  /**
   * When to look for timers of {@code domain} again: no timer is earlier, and in general one is
   * then. After the earliest has been deleted the time may be up to a bucket too early.
   *
   * @return {@link Long#MAX_VALUE} if there is no timer
   */
  public long earliestDue(TimeDomain domain) {
    TimeIndex.Bucket bucket = domains.get(domain).index.first();
    return bucket == null ? Long.MAX_VALUE : bucket.bound();
  }

  /** How many timers have gone so far, because they fired or were deleted: a set one is there until then. */
  long removals() {
    return removals;
  }

  /** Writes what is in memory to the step's rows. */
  public void flush() {
    for (DomainTimers timers : domains.values()) {
      timers.index.flush();
    }
  }

  private void removeByTime(Identity identity, ByteInput idValue) {
    long time = idValue.readLong();
    release(domains.get(identity.domain).remove(identity.timeSuffix(time), time));
  }

  private void hold(long outputTime) {
    if (outputTime <= END_OF_TIME) {
      holds.ifPresent(index -> index.add(outputTime));
    }
  }

  private void release(long outputTime) {
    if (outputTime <= END_OF_TIME) {
      holds.ifPresent(index -> index.release(outputTime));
    }
  }

  private byte[] idPrefix(byte[] key) {
    return rows.prefix(RowKeys.TIMER_ID).writeBytes(key).toByteArray();
  }

  private static boolean due(long time, long now) {
    return time < now || now >= END_OF_TIME;
  }

  /** What a timer is known by. */
  private static final class Identity {
    final byte[] key;
    final TimeDomain domain;
    final String namespace;
    final String family;
    final String id;

    Identity(byte[] key, TimeDomain domain, String namespace, String family, String id) {
      this.key = key;
      this.domain = domain;
      this.namespace = namespace;
      this.family = family;
      this.id = id;
    }

    byte[] idSuffix() {
      return new ByteOutput()
          .writeByte(code(domain))
          .writeSized(namespace)
          .writeSized(family)
          .writeSized(id)
          .toByteArray();
    }

    byte[] timeSuffix(long time) {
      return new ByteOutput()
          .writeOrderedLong(time)
          .writeSized(key)
          .writeSized(namespace)
          .writeSized(family)
          .writeSized(id)
          .toByteArray();
    }
  }

  /** A domain's number in durable rows, which must outlast any reordering of the enum. */
  private static int code(TimeDomain domain) {
    return switch (domain) {
      case EVENT_TIME -> 0;
      case PROCESSING_TIME -> 1;
      case SYNCHRONIZED_PROCESSING_TIME -> 2;
    };
  }

  private static TimeDomain domain(byte code) {
    for (TimeDomain domain : TimeDomain.values()) {
      if (code(domain) == code) {
        return domain;
      }
    }
    throw new IllegalStateException("No time domain has the number " + code);
  }

  /** The timers of one time domain, by time. */
  private final class DomainTimers {
    private final int code;
    private final TimeIndex index;
    // By bucket: the time suffixes of those buckets that were scanned, kept in step with changes.
    private final Map<Long, NavigableMap<byte[], byte[]>> scanned = new HashMap<>();

    DomainTimers(TimeDomain domain) {
      this.code = code(domain);
      this.index = new TimeIndex(rows, RowKeys.TIMER_BUCKETS, code);
    }

    void insert(byte[] timeSuffix, long time, long outputTime) {
      long bucket = TimeIndex.bucketOf(time);
      byte[] value = new ByteOutput(Long.BYTES).writeLong(outputTime).toByteArray();
      rows.insert(bucketPrefix(bucket), timeSuffix, value);
      index.added(time);
      NavigableMap<byte[], byte[]> timers = scanned.get(bucket);
      if (timers != null) {
        timers.put(timeSuffix, value);
      }
    }

    /** Returns the removed timer's output time. */
    long remove(byte[] timeSuffix, long time) {
      long bucket = TimeIndex.bucketOf(time);
      byte[] prefix = bucketPrefix(bucket);
      byte[] value = rows.get(prefix, timeSuffix);
      if (value == null) {
        throw new IllegalStateException(
            rows.stepName() + ": the timer set for " + time + " ms has no row by its time");
      }
      rows.remove(prefix, timeSuffix);
      NavigableMap<byte[], byte[]> timers = scanned.get(bucket);
      if (timers != null) {
        timers.remove(timeSuffix);
      }
      index.removed(time, true);
      return new ByteInput(value).readLong();
    }

    /** The time suffix of the earliest timer if that is due, else null. */
    byte[] firstDue(long now) {
      TimeIndex.Bucket bucket = index.first();
      // The bound is no later than the earliest timer: if it is not due, no timer is.
      if (bucket == null || !due(bucket.bound(), now)) {
        return null;
      }
      byte[] first = timers(bucket.number()).firstKey();
      long time = new ByteInput(first).readOrderedLong();
      index.setEarliest(bucket, time);
      return due(time, now) ? first : null;
    }

    private NavigableMap<byte[], byte[]> timers(long bucket) {
      NavigableMap<byte[], byte[]> timers = scanned.get(bucket);
      if (timers == null) {
        NavigableMap<byte[], byte[]> found = new TreeMap<>(Arrays::compareUnsigned);
        rows.forEach(bucketPrefix(bucket), row -> found.put(row.suffix(), row.value()));
        scanned.put(bucket, found);
        timers = found;
      }
      if (timers.isEmpty()) {
        throw new IllegalStateException(
            rows.stepName() + ": no timer in bucket " + bucket + ", which is to have some");
      }
      return timers;
    }

    private byte[] bucketPrefix(long bucket) {
      return rows.prefix(RowKeys.TIMER).writeByte(code).writeOrderedLong(bucket).toByteArray();
    }
  }
}
