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
package org.apache.beam.runners.spark.structuredstreaming.engine.batch;

import java.io.IOException;
import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteOutput;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.catalyst.expressions.XXH64;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.util.collection.unsafe.sort.PrefixComparators;
import org.apache.spark.util.collection.unsafe.sort.RecordComparator;
import org.apache.spark.util.collection.unsafe.sort.UnsafeExternalSorter;

/**
 * Brings the records of a task that belong to one group next to each other, whatever their number:
 * Spark's own external sorter holds them, in memory that Spark's memory manager gives, and on disk
 * past that.
 *
 * <p>Records are sorted by a hash of 64 bits of what identifies their group, and by nothing else, so
 * that the sort is one of numbers. Records of two groups with the same hash may come mixed: see {@link
 * SortedGroups}. Within a group the order of insertion is kept as long as nothing was spilled.
 *
 * <p>Of records in memory Spark keeps a table in one array, {@value #TABLE_BYTES_PER_RECORD} bytes for
 * each: a small record is smaller than that. Free memory of that size need not be in one piece, and where
 * it is not, memory that Spark's manager has given runs out. So what is in memory is spilled, too, when
 * the table would take more than a {@value #TABLE_SHARE}th of the heap.
 *
 * <p>Layout of a record: {@code root (number), identity (sized), body}.
 */
final class GroupSorter {
  private static final int INITIAL_RECORDS = 4096;

  /** Two numbers for each record, and as many again for the radix sort. */
  private static final int TABLE_BYTES_PER_RECORD = 32;

  private static final int TABLE_SHARE = 16;

  private final UnsafeExternalSorter sorter;
  private final GroupHash hash;
  private final ByteOutput record = new ByteOutput(512);

  /** The hash that groups are sorted by. */
  interface GroupHash {
    long of(int root, byte[] identity, int length);
  }

  /** A sorter of the running task; what it holds is freed with the task. */
  GroupSorter(TaskContext context) {
    this(context, GroupSorter::xxHash);
  }

  GroupSorter(TaskContext context, GroupHash hash) {
    SparkEnv env = SparkEnv.get();
    this.hash = hash;
    this.sorter =
        UnsafeExternalSorter.create(
            context.taskMemoryManager(),
            env.blockManager(),
            env.serializerManager(),
            context,
            SameRank::new,
            PrefixComparators.LONG,
            INITIAL_RECORDS,
            context.taskMemoryManager().pageSizeBytes(),
            mostRecords(Runtime.getRuntime().maxMemory()),
            true);
  }

  /** How many records are in memory at most. */
  static int mostRecords(long heapBytes) {
    long most = heapBytes / TABLE_SHARE / TABLE_BYTES_PER_RECORD;
    return (int) Math.max(INITIAL_RECORDS, Math.min(Integer.MAX_VALUE, most));
  }

  /**
   * Adds a record.
   *
   * @param root the number of the step that the group is of
   * @param identity equal for the records of one group of the root, and for no others
   */
  void insert(int root, ByteOutput identity, ByteOutput body) throws IOException {
    record.reset();
    record.writeVarInt(root);
    record.writeSized(identity);
    record.write(body.array(), 0, body.size());
    sorter.insertRecord(
        record.array(),
        Platform.BYTE_ARRAY_OFFSET,
        record.size(),
        hash.of(root, identity.array(), identity.size()),
        false);
    record.reset();
  }

  /** Writes what is in memory to disk, as Spark has it done when memory is short. */
  void spill() throws IOException {
    sorter.spill();
  }

  /** The records by groups; nothing is inserted afterwards. */
  SortedGroups sorted() throws IOException {
    return new SortedGroups(sorter.getSortedIterator());
  }

  private static long xxHash(int root, byte[] identity, int length) {
    return XXH64.hashUnsafeBytes(identity, Platform.BYTE_ARRAY_OFFSET, length, root);
  }

  /** Records of the same hash have no order among them. */
  private static final class SameRank extends RecordComparator {
    @Override
    public int compare(
        Object leftBase,
        long leftOffset,
        int leftLength,
        Object rightBase,
        long rightOffset,
        int rightLength) {
      return 0;
    }
  }
}
