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
package org.apache.beam.runners.spark.structuredstreaming.engine.keyed;

import java.io.IOException;
import org.apache.beam.runners.core.metrics.MetricsContainerImpl;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteOutput;
import org.apache.beam.runners.spark.structuredstreaming.engine.graph.ElementReceiver;
import org.apache.beam.runners.spark.structuredstreaming.engine.shuffle.RecordInput;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StepRows;
import org.apache.beam.runners.spark.structuredstreaming.translation.StableInputStep;
import org.apache.beam.sdk.values.WindowedValue;
import org.apache.beam.sdk.values.WindowedValues.FullWindowedValueCoder;

/**
 * Keeps elements for one epoch, so that they are durable when they are passed on.
 *
 * <p>Invariants, with {@code in(e)} and {@code out(e)} the watermarks at the end of epoch {@code e}:
 *
 * <ul>
 *   <li>what is emitted in epoch {@code e} is what was received in epoch {@code e - 1}, in the order
 *       it was received in: the same in every attempt at {@code e}, as both depend on nothing but the
 *       rows that {@code e - 1} committed;
 *   <li>{@code out(e) = in(e - 1)} if anything was received in {@code e}, else {@code in(e)}. So an
 *       element is never behind the output watermark when it leaves if it was not behind the input
 *       watermark when it came: it leaves in {@code e + 1}, where its receivers still go by {@code
 *       out(e) = in(e - 1)};
 *   <li>if anything was received, the step is pending: the next epoch begins at once.
 * </ul>
 *
 * <p>Rows: {@code (HEAD): generation, chunks}; {@code (CHUNK, generation) -> (number): elements}, one
 * behind the other. Elements received in an epoch make the generation behind the stored one.
 */
final class StableInputRunner extends KeyedStepRunner {
  private static final byte WATERMARKS = StepWatermarks.engineKind(0);
  private static final byte HEAD = StepWatermarks.engineKind(1);
  private static final byte CHUNK = StepWatermarks.engineKind(2);
  private static final int CHUNK_BYTES = 64 << 10;
  private static final byte[] NO_SUFFIX = new byte[0];

  private final StepRows rows;
  private final StepWatermarks watermarks;
  private final FullWindowedValueCoder<Object> elementCoder;
  private final ByteInput storedInput = new ByteInput();
  private final ByteOutput chunk = new ByteOutput(1024);
  private final byte[] headPrefix;
  private final byte[] storedPrefix;
  private final byte[] receivedPrefix;
  private final long generation;
  private final long storedChunks;
  private final long watermarkBefore;
  private long receivedChunks;

  StableInputRunner(
      StableInputStep step,
      ElementReceiver output,
      MetricsContainerImpl container,
      StepRows rows,
      long processingTimeMillis) {
    super(step, output, container);
    this.rows = rows;
    this.elementCoder = step.input().windowedValueCoder();
    this.watermarks = new StepWatermarks(rows, WATERMARKS, processingTimeMillis);
    this.watermarkBefore = watermarks.inputWatermark();
    this.headPrefix = rows.prefix(HEAD).toByteArray();
    byte[] head = rows.get(headPrefix, NO_SUFFIX);
    ByteInput reader = head == null ? null : new ByteInput(head);
    this.generation = reader == null ? 0 : reader.readVarLong();
    this.storedChunks = reader == null ? 0 : reader.readVarLong();
    this.storedPrefix = prefixOf(generation);
    this.receivedPrefix = prefixOf(generation + 1);
  }

  @Override
  public void receive(RecordInput record) throws IOException {
    statistics().addRowsIn(1);
    ByteInput bytes = record.bytes();
    int from = bytes.position();
    // Decoded to find its end, and so that an element that cannot be decoded fails where it comes.
    elementCoder.decode(bytes);
    chunk.write(bytes.array(), from, bytes.position() - from);
    if (chunk.size() >= CHUNK_BYTES) {
      storeChunk();
    }
  }

  @Override
  public Work endOfElements() {
    return new Work() {
      private long next;

      @Override
      public boolean advance() {
        if (next == storedChunks) {
          return false;
        }
        emitChunk(next++);
        return true;
      }
    };
  }

  @Override
  public Work advanceWatermark(long watermarkMillis) {
    watermarks.advanceInput(watermarkMillis);
    return Work.NONE;
  }

  @Override
  public long finish() {
    if (chunk.size() > 0) {
      storeChunk();
    }
    boolean received = receivedChunks > 0;
    if (received) {
      statistics().setPending();
      byte[] head = new ByteOutput().writeVarLong(generation + 1).writeVarLong(receivedChunks).toByteArray();
      rows.put(headPrefix, NO_SUFFIX, head);
    } else if (storedChunks > 0) {
      rows.remove(headPrefix, NO_SUFFIX);
    }
    long out = watermarks.release(received ? watermarkBefore : Long.MAX_VALUE);
    watermarks.flush();
    rows.flush();
    statistics().setState(rows.rows(), rows.bytes());
    statistics().setWatermarks(watermarks.inputWatermark(), out);
    return out;
  }

  private void storeChunk() {
    rows.insert(receivedPrefix, suffixOf(receivedChunks), chunk.toByteArray());
    receivedChunks++;
    chunk.reset();
  }

  private void emitChunk(long number) {
    byte[] suffix = suffixOf(number);
    byte[] stored = rows.get(storedPrefix, suffix);
    if (stored == null) {
      throw new IllegalStateException(
          step().fullName() + ": chunk " + number + " of " + storedChunks
              + " that the epoch before has stored is missing");
    }
    rows.remove(storedPrefix, suffix);
    storedInput.reset(stored);
    while (!storedInput.isExhausted()) {
      emit(decode());
    }
  }

  private WindowedValue<Object> decode() {
    try {
      return elementCoder.decode(storedInput);
    } catch (IOException | RuntimeException e) {
      throw failure("decoding a stored element with " + elementCoder, e);
    }
  }

  private byte[] prefixOf(long ofGeneration) {
    return rows.prefix(CHUNK).writeLong(ofGeneration).toByteArray();
  }

  private static byte[] suffixOf(long number) {
    return new ByteOutput(Long.BYTES).writeLong(number).toByteArray();
  }
}
