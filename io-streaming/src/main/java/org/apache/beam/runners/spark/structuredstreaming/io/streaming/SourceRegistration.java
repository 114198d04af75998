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

import java.util.Objects;
import org.apache.beam.runners.core.construction.SerializablePipelineOptions;
import org.apache.beam.sdk.io.UnboundedSource;
import org.apache.beam.sdk.metrics.MetricsContainer;

/**
 * All that the driver needs to know of one source of a query. Immutable; it never leaves the driver
 * as a whole, for the gate lives there.
 */
public final class SourceRegistration {
  private final String fullName;
  private final int sourceIndex;
  private final UnboundedSource<?, ?> source;
  private final SerializablePipelineOptions options;
  private final String checkpointDir;
  private final long stableId;
  private final int desiredSplits;
  private final ReadLimits limits;
  private final long readerIdleTimeoutMillis;
  private final EpochGate gate;
  private final int minEpochsToRetain;
  private final long resumedEpoch;
  private final MetricsContainer driverMetrics;
  private final boolean endedByDrain;

  private SourceRegistration(Builder builder) {
    fullName = Objects.requireNonNull(builder.fullName, "fullName");
    sourceIndex = checkAtLeast(0, builder.sourceIndex, "sourceIndex");
    source = Objects.requireNonNull(builder.source, "source");
    options = Objects.requireNonNull(builder.options, "options");
    checkpointDir = Objects.requireNonNull(builder.checkpointDir, "checkpointDir");
    stableId = builder.stableId;
    desiredSplits = checkAtLeast(1, builder.desiredSplits, "desiredSplits");
    limits = Objects.requireNonNull(builder.limits, "limits");
    readerIdleTimeoutMillis = builder.readerIdleTimeoutMillis;
    if (readerIdleTimeoutMillis < 1) {
      throw new IllegalArgumentException(
          "readerIdleTimeoutMillis of " + fullName + " must be positive: "
              + readerIdleTimeoutMillis);
    }
    gate = Objects.requireNonNull(builder.gate, "gate");
    minEpochsToRetain = checkAtLeast(1, builder.minEpochsToRetain, "minEpochsToRetain");
    resumedEpoch = builder.resumedEpoch;
    if (resumedEpoch < 0) {
      throw new IllegalArgumentException(
          "resumedEpoch of " + fullName + " must not be negative: " + resumedEpoch);
    }
    driverMetrics = builder.driverMetrics;
    endedByDrain = builder.endedByDrain;
  }

  private int checkAtLeast(int smallest, int value, String name) {
    if (value < smallest) {
      throw new IllegalArgumentException(
          name + " of " + fullName + " must be at least " + smallest + ": " + value);
    }
    return value;
  }

  /** A builder without any value set; all must be, except where a setter names a default. */
  public static Builder builder() {
    return new Builder();
  }

  /** Full name of the transform that reads the source. */
  public String fullName() {
    return fullName;
  }

  /** Position among the sources of the query, from 0. */
  public int sourceIndex() {
    return sourceIndex;
  }

  /** The source before splitting. */
  public UnboundedSource<?, ?> source() {
    return source;
  }

  /** The pipeline's options, for splitting and for every reader. */
  public SerializablePipelineOptions options() {
    return options;
  }

  /** Root checkpoint location of the query: absolute, as executors use it too. */
  public String checkpointDir() {
    return checkpointDir;
  }

  /** Durable id of the full name: names the directory of the source's durable files. */
  public long stableId() {
    return stableId;
  }

  /** Number of splits the source is asked for at the first start of the query. */
  public int desiredSplits() {
    return desiredSplits;
  }

  /** How much may be read in an epoch. */
  public ReadLimits limits() {
    return limits;
  }

  /** How long an executor keeps a reader that no epoch asks for, in milliseconds. */
  public long readerIdleTimeoutMillis() {
    return readerIdleTimeoutMillis;
  }

  /** The query's gate. */
  public EpochGate gate() {
    return gate;
  }

  /** Whether a drain ends the source where it stands; otherwise it is read to its own end. */
  public boolean isEndedByDrain() {
    return endedByDrain;
  }

  /** Where the source counts what it counts while it is split, on the driver; may be null. */
  public MetricsContainer driverMetrics() {
    return driverMetrics;
  }

  /** How many epochs before the running one keep their durable marks. */
  public int minEpochsToRetain() {
    return minEpochsToRetain;
  }

  /**
   * The first epoch since the user started the query. Restarts that the user has not asked for do not
   * change it. At no other epoch is a split read from its beginning for want of a mark.
   */
  public long resumedEpoch() {
    return resumedEpoch;
  }

  @Override
  public String toString() {
    return fullName;
  }

  /** Collects the values of a {@link SourceRegistration}. Not thread-safe. */
  public static final class Builder {
    private String fullName;
    private int sourceIndex;
    private UnboundedSource<?, ?> source;
    private SerializablePipelineOptions options;
    private String checkpointDir;
    private long stableId;
    private int desiredSplits;
    private ReadLimits limits;
    private long readerIdleTimeoutMillis;
    private EpochGate gate;
    private int minEpochsToRetain = 100;
    private long resumedEpoch;
    private MetricsContainer driverMetrics;
    private boolean endedByDrain = true;

    private Builder() {}

    /** See {@link SourceRegistration#fullName()}. */
    public Builder fullName(String value) {
      fullName = value;
      return this;
    }

    /** See {@link SourceRegistration#sourceIndex()}; at least 0. */
    public Builder sourceIndex(int value) {
      sourceIndex = value;
      return this;
    }

    /** See {@link SourceRegistration#source()}. */
    public Builder source(UnboundedSource<?, ?> value) {
      source = value;
      return this;
    }

    /** See {@link SourceRegistration#options()}. */
    public Builder options(SerializablePipelineOptions value) {
      options = value;
      return this;
    }

    /** See {@link SourceRegistration#checkpointDir()}. */
    public Builder checkpointDir(String value) {
      checkpointDir = value;
      return this;
    }

    /** See {@link SourceRegistration#stableId()}. */
    public Builder stableId(long value) {
      stableId = value;
      return this;
    }

    /** See {@link SourceRegistration#desiredSplits()}; at least 1. */
    public Builder desiredSplits(int value) {
      desiredSplits = value;
      return this;
    }

    /** See {@link SourceRegistration#limits()}. */
    public Builder limits(ReadLimits value) {
      limits = value;
      return this;
    }

    /** See {@link SourceRegistration#readerIdleTimeoutMillis()}; positive. */
    public Builder readerIdleTimeoutMillis(long value) {
      readerIdleTimeoutMillis = value;
      return this;
    }

    /** See {@link SourceRegistration#gate()}. */
    public Builder gate(EpochGate value) {
      gate = value;
      return this;
    }

    /** See {@link SourceRegistration#minEpochsToRetain()}; at least 1, 100 unless set. */
    public Builder minEpochsToRetain(int value) {
      minEpochsToRetain = value;
      return this;
    }

    /** See {@link SourceRegistration#resumedEpoch()}; at least 0, which it is unless set. */
    public Builder resumedEpoch(long value) {
      resumedEpoch = value;
      return this;
    }

    /** See {@link SourceRegistration#isEndedByDrain()}; true unless set. */
    public Builder endedByDrain(boolean value) {
      endedByDrain = value;
      return this;
    }

    /** See {@link SourceRegistration#driverMetrics()}; null unless set. */
    public Builder driverMetrics(MetricsContainer value) {
      driverMetrics = value;
      return this;
    }

    /**
     * The registration.
     *
     * @throws NullPointerException naming the value that is missing
     * @throws IllegalArgumentException naming the value that is out of range
     */
    public SourceRegistration build() {
      return new SourceRegistration(this);
    }
  }
}
