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
package org.apache.beam.runners.spark.structuredstreaming.translation;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.greaterThan;
import static org.hamcrest.Matchers.hasSize;
import static org.hamcrest.Matchers.is;

import java.util.List;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.coders.VarLongCoder;
import org.apache.beam.sdk.io.CountingSource;
import org.apache.beam.sdk.io.OffsetBasedSource;
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.options.PipelineOptionsFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Sizes and ranges at the bounds of numbers of 64 bits. */
class SourceSizeTest {
  private static final PipelineOptions OPTIONS = PipelineOptionsFactory.create();

  @SuppressWarnings("deprecation") // what GenerateSequence is made of is to be had in no other way
  private static OffsetBasedSource<Long> numbers(long from, long to) {
    return ((OffsetBasedSource<Long>) CountingSource.upTo(1)).createSourceForSubrange(from, to);
  }

  /** Of 100 numbers, as it finds out when it is asked. */
  private static final class OpenSource extends OffsetBasedSource<Long> {
    OpenSource() {
      super(0, Long.MAX_VALUE, 1);
    }

    @Override
    public long getBytesPerOffset() {
      return 8;
    }

    @Override
    public long getMaxEndOffset(PipelineOptions options) {
      return 100;
    }

    @Override
    public OffsetBasedSource<Long> createSourceForSubrange(long start, long end) {
      return numbers(start, end);
    }

    @Override
    public BoundedReader<Long> createReader(PipelineOptions options) {
      throw new UnsupportedOperationException("Its ranges are to be read.");
    }

    @Override
    public Coder<Long> getOutputCoder() {
      return VarLongCoder.of();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "0, 10",
    "0, 4611686018427387906",
    "-4611686018427387911, 4611686018427387906",
    "-9223372036854775807, 9223372036854775806"
  })
  void rangesMeet(long from, long to) throws Exception {
    List<OffsetBasedSource<Long>> ranges = SourceSize.split(numbers(from, to), 5, OPTIONS);
    assertThat(ranges, hasSize(5));
    long next = from;
    for (OffsetBasedSource<Long> range : ranges) {
      assertThat(range.getStartOffset(), is(next));
      assertThat(range.getEndOffset(), greaterThan(next));
      next = range.getEndOffset();
    }
    assertThat(next, is(to));
  }

  @Test
  void anEndThatIsToBeFoundOutIsAskedFor() throws Exception {
    assertThat(SourceSize.of(new OpenSource(), OPTIONS), is(800L));
    List<OffsetBasedSource<Long>> ranges = SourceSize.split(new OpenSource(), 4, OPTIONS);
    assertThat(ranges.get(3).getStartOffset(), is(75L));
    assertThat(ranges.get(3).getEndOffset(), is(100L));
  }

  @Test
  void aSumBeyond64BitsStaysThere() {
    assertThat(SourceSize.sum(3, 4), is(7L));
    assertThat(SourceSize.sum(SourceSize.BEYOND_LONG, 1), is(SourceSize.BEYOND_LONG));
    assertThat(SourceSize.sum(1L << 62, 1L << 62), is(SourceSize.BEYOND_LONG));
  }
}
