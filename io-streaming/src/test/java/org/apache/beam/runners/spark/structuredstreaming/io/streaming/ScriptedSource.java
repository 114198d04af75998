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

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.coders.CustomCoder;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.io.UnboundedSource;
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.spark.TaskContext;
import org.checkerframework.checker.nullness.qual.Nullable;
import org.joda.time.Instant;

/**
 * A source whose splits each follow a script. Its marks are not Serializable, know their live reader
 * only until they are encoded, and do nothing when finalized without it. Everything that happens is
 * written to the {@link SourceTrace} of the source's name, in this JVM.
 */
public final class ScriptedSource extends UnboundedSource<String, ScriptedSource.Mark> {
  /** One thing a split does when it is asked for a record. */
  public sealed interface Step extends Serializable {}

  /** Gives a record. */
  public record Emit(String value, long millis) implements Step {}

  /** Moves the watermark, and goes on to the next step. */
  public record Watermark(long millis) implements Step {}

  /** Has no record this many times. */
  public record Pause(int times) implements Step {}

  /** Fails once in the life of the trace, then goes on to the next step. */
  public record FailOnce(String message) implements Step {}

  /** Fails as a class that is missing does. */
  public record LinkFailure(String missing) implements Step {}

  /** Gives records {@code prefix + 0..count-1}, all at the same time. */
  public record Burst(String prefix, int count, long millis) implements Step {}

  /** Reports another watermark, be it an earlier one, and goes on to the next step. */
  public record Regress(long millis) implements Step {}

  /** Gives records for ever, one for each second from the epoch on, and moves the watermark along. */
  public record Endless(String prefix) implements Step {}

  public static final long END_OF_TIME = BoundedWindow.TIMESTAMP_MAX_VALUE.getMillis();

  /** Where Spark tells tasks the number of the micro-batch they belong to. */
  private static final String EPOCH_PROPERTY = "streaming.sql.batchId";

  private final String name;
  private final List<List<Step>> scripts;
  private final int split;
  private boolean withoutMarkCoder;
  private boolean failingMarkCoder;
  private boolean withRecordIds;
  private Coder<String> outputCoder = StringUtf8Coder.of();

  private ScriptedSource(String name, List<List<Step>> scripts, int split) {
    this.name = name;
    this.scripts = new ArrayList<>(scripts);
    this.split = split;
  }

  /** A source of one split for each script. */
  public static ScriptedSource of(String name, List<List<Step>> scripts) {
    return new ScriptedSource(name, scripts, -1);
  }

  /** Steps that give records {@code prefix + 0..count-1} at seconds 0.., the watermark following. */
  public static List<Step> records(String prefix, int count) {
    List<Step> steps = new ArrayList<>();
    for (int record = 0; record < count; record++) {
      steps.add(new Emit(prefix + record, record * 1000L));
      steps.add(new Watermark(record * 1000L));
    }
    return steps;
  }

  /** As {@link #records}, then the end of time. */
  public static List<Step> recordsToTheEnd(String prefix, int count) {
    List<Step> steps = records(prefix, count);
    steps.add(new Watermark(END_OF_TIME));
    return steps;
  }

  /** The same source without a mark coder. */
  public ScriptedSource withoutMarkCoder() {
    withoutMarkCoder = true;
    return this;
  }

  /** The same source with a mark coder that always fails to encode. */
  public ScriptedSource withFailingMarkCoder() {
    failingMarkCoder = true;
    return this;
  }

  /** The same source, one that may give a record twice: the id of a record is its value. */
  public ScriptedSource withRecordIds() {
    withRecordIds = true;
    return this;
  }

  /** Names another coder for the records. */
  public ScriptedSource withOutputCoder(Coder<String> coder) {
    outputCoder = coder;
    return this;
  }

  @Override
  public List<ScriptedSource> split(int desiredNumSplits, PipelineOptions options) {
    SourceTrace.of(name).splitCalls.incrementAndGet();
    List<ScriptedSource> splits = new ArrayList<>();
    for (int part = 0; part < scripts.size(); part++) {
      ScriptedSource source = new ScriptedSource(name, scripts, part);
      source.withoutMarkCoder = withoutMarkCoder;
      source.failingMarkCoder = failingMarkCoder;
      source.withRecordIds = withRecordIds;
      source.outputCoder = outputCoder;
      splits.add(source);
    }
    return splits;
  }

  @Override
  public UnboundedReader<String> createReader(PipelineOptions options, @Nullable Mark mark) {
    return new ScriptedReader(this, mark);
  }

  @Override
  public @Nullable Coder<Mark> getCheckpointMarkCoder() {
    return withoutMarkCoder ? null : new MarkCoder(failingMarkCoder);
  }

  @Override
  public boolean requiresDeduping() {
    return withRecordIds;
  }

  @Override
  public Coder<String> getOutputCoder() {
    return outputCoder;
  }

  /** Where a reader stood: the step it is at, how much of it was done, and its watermark. */
  public static final class Mark implements UnboundedSource.CheckpointMark {
    public final int step;
    public final long done;
    public final long watermark;
    private final @Nullable ScriptedReader liveReader;
    private final long epoch;

    Mark(int step, long done, long watermark, @Nullable ScriptedReader liveReader) {
      this.epoch = epochOfTask();
      this.step = step;
      this.done = done;
      this.watermark = watermark;
      this.liveReader = liveReader;
    }

    /** The epoch whose task takes the mark, -1 outside of a query's task. */
    private static long epochOfTask() {
      TaskContext task = TaskContext.get();
      String epoch = task == null ? null : task.getLocalProperty(EPOCH_PROPERTY);
      return epoch == null ? -1 : Long.parseLong(epoch);
    }

    @Override
    public void finalizeCheckpoint() throws IOException {
      if (liveReader != null) {
        liveReader.acknowledge(this);
      }
    }
  }

  /** Codes what is durable of a mark. */
  private static final class MarkCoder extends CustomCoder<Mark> {
    private final boolean failing;

    MarkCoder(boolean failing) {
      this.failing = failing;
    }

    @Override
    public void encode(Mark mark, OutputStream out) throws IOException {
      if (failing) {
        throw new IOException("the mark does not fit");
      }
      DataOutputStream data = new DataOutputStream(out);
      data.writeInt(mark.step);
      data.writeLong(mark.done);
      data.writeLong(mark.watermark);
    }

    @Override
    public Mark decode(InputStream in) throws IOException {
      DataInputStream data = new DataInputStream(in);
      return new Mark(data.readInt(), data.readLong(), data.readLong(), null);
    }
  }

  /** Follows the script of its split. Two threads inside at once are a violation. */
  private static final class ScriptedReader extends UnboundedReader<String> {
    private final ScriptedSource source;
    private final SourceTrace trace;
    private final List<Step> script;
    private final AtomicReference<Thread> inside = new AtomicReference<>();
    private int step;
    private long done;
    private long watermark;
    private long records;
    private boolean started;
    private boolean closed;
    private @Nullable Emit current;

    ScriptedReader(ScriptedSource source, @Nullable Mark mark) {
      this.source = source;
      this.trace = SourceTrace.of(source.name);
      this.script = source.scripts.get(source.split);
      this.step = mark == null ? 0 : mark.step;
      this.done = mark == null ? 0 : mark.done;
      this.watermark =
          mark == null ? BoundedWindow.TIMESTAMP_MIN_VALUE.getMillis() : mark.watermark;
      trace.opened(source.split, mark == null ? null : mark.step);
    }

    @Override
    public boolean start() throws IOException {
      trace.check(!started, "start() a second time");
      started = true;
      return move();
    }

    @Override
    public boolean advance() throws IOException {
      trace.check(started, "advance() before start()");
      return move();
    }

    private boolean move() throws IOException {
      enter();
      try {
        current = null;
        while (step < script.size()) {
          Step next = script.get(step);
          if (next instanceof Endless endless) {
            current = new Emit(endless.prefix() + done, done * 1000);
            watermark = done * 1000;
            done++;
          } else if (next instanceof Burst burst) {
            if (done < burst.count()) {
              current = new Emit(burst.prefix() + done, burst.millis());
              done++;
            } else {
              done = 0;
              step++;
            }
          } else if (next instanceof Regress move) {
            watermark = move.millis();
            step++;
          } else if (next instanceof Emit emit) {
            current = emit;
            step++;
          } else if (next instanceof Watermark move) {
            watermark = Math.max(watermark, move.millis());
            step++;
          } else if (next instanceof FailOnce failure) {
            if (trace.isFirst(source.split, step)) {
              throw new IOException(failure.message());
            }
            step++;
          } else if (next instanceof LinkFailure failure) {
            throw new NoClassDefFoundError(failure.missing());
          } else if (next instanceof Pause pause) {
            if (done < pause.times()) {
              done++;
              return false;
            }
            done = 0;
            step++;
          }
          if (current != null) {
            records++;
            trace.pulled.incrementAndGet();
            followWatermark();
            return true;
          }
        }
        return false;
      } finally {
        leave();
      }
    }

    /** A watermark that stands right behind a record is reported together with that record. */
    private void followWatermark() {
      while (step < script.size() && script.get(step) instanceof Watermark move) {
        watermark = Math.max(watermark, move.millis());
        step++;
      }
    }

    @Override
    public String getCurrent() {
      if (current == null) {
        throw new NoSuchElementException();
      }
      return current.value();
    }

    @Override
    public byte[] getCurrentRecordId() {
      return getCurrent().getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public Instant getCurrentTimestamp() {
      if (current == null) {
        throw new NoSuchElementException();
      }
      return Instant.ofEpochMilli(current.millis());
    }

    @Override
    public Instant getWatermark() {
      trace.check(started, "getWatermark() before start()");
      return Instant.ofEpochMilli(watermark);
    }

    @Override
    public Mark getCheckpointMark() {
      trace.check(started, "getCheckpointMark() before start()");
      enter();
      try {
        return new Mark(step, done, watermark, this);
      } finally {
        leave();
      }
    }

    @Override
    public long getSplitBacklogBytes() {
      return (long) script.size() - step;
    }

    private void acknowledge(Mark mark) throws IOException {
      trace.check(!closed, "a mark finalized after its reader was closed");
      trace.acknowledged(source.split, mark.step, records, mark.epoch);
      if (trace.failFinalize) {
        throw new IOException("the acknowledgement did not arrive");
      }
    }

    @Override
    public void close() throws IOException {
      trace.check(!closed, "close() a second time");
      closed = true;
      trace.closed.incrementAndGet();
      if (trace.failClose) {
        throw new IOException("the connection was lost");
      }
    }

    private void enter() {
      trace.check(!closed, "a closed reader is used");
      trace.check(
          inside.compareAndSet(null, Thread.currentThread()), "two threads inside one reader");
    }

    private void leave() {
      inside.set(null);
    }

    @Override
    public UnboundedSource<String, ?> getCurrentSource() {
      return source;
    }
  }
}
