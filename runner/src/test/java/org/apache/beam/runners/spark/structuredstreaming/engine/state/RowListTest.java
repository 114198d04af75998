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

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.is;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.apache.beam.runners.spark.structuredstreaming.engine.bytes.ByteOutput;
import org.junit.jupiter.api.Test;

/** How long what was read from a list can be iterated. */
class RowListTest {
  private static final int ELEMENT_BYTES = RowList.MAX_CHUNK_BYTES / 4;
  private static final long LIMIT = 4L * RowList.MAX_CHUNK_BYTES;
  private static final byte[] HEAD = RowKeys.prefix(7, RowKeys.STATE).toByteArray();
  private static final byte[] CHUNKS = RowKeys.prefix(7, RowKeys.CHUNK).toByteArray();

  private final StepRows rows = new StepRows(new CountingStateRows(), 7, "Group/Step");

  private RowList list(int elements) {
    RowList list = new RowList(rows, HEAD, new byte[0], CHUNKS, new CellMemory(), LIMIT);
    for (int i = 0; i < elements; i++) {
      list.add(new ByteOutput().writeBytes(new byte[ELEMENT_BYTES]));
    }
    return list;
  }

  private static int count(RowList.Snapshot snapshot) {
    RowList.Cursor cursor = snapshot.cursor();
    int count = 0;
    while (cursor.next() != null) {
      count++;
    }
    return count;
  }

  @Test
  void aSnapshotThatIsSmallStaysWhenTheListIsGone() {
    RowList list = list(10);
    RowList.Snapshot snapshot = list.snapshot();
    list.clear();
    list.flush();
    assertThat(rows.rows(), is(0L));
    assertThat(count(snapshot), is(10));
  }

  /** It is not loaded into memory, for it may be dead: nobody can tell. */
  @Test
  void aSnapshotThatIsLargeEndsWithTheList() {
    RowList list = list(100);
    RowList.Snapshot snapshot = list.snapshot();
    list.clear();
    assertThat(count(snapshot), is(100));
    assertThat(count(snapshot), is(100));
    list.flush();
    assertThat(rows.rows(), is(0L));
    IllegalStateException refused =
        assertThrows(IllegalStateException.class, () -> count(snapshot));
    assertThat(refused.getMessage(), containsString("Group/Step: the values of a large list"));
  }

  @Test
  void aSnapshotThatIsLargeEndsWhenTheListIsWrittenBack() {
    RowList list = list(100);
    RowList.Snapshot snapshot = list.snapshot();
    list.release();
    assertThrows(IllegalStateException.class, () -> count(snapshot));
    assertThat(count(list(1).snapshot()), is(101));
  }
}
