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

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.apache.beam.runners.spark.structuredstreaming.translation.PlanFingerprint;

/**
 * What the checkpoint's plan file says: its id, what its state is divided by, and which plans have made it.
 *
 * <p>A plan is noted with the first epoch that it may run. It has made state as soon as an epoch from
 * there on is committed; until then the plan before it is the one that the state is of, so both are
 * kept. With {@code c} for the last committed epoch, -1 for none:
 *
 * <pre>
 * in force(c) = the last plan p with since(p) <= c, the first plan if there is none
 * note(q, c)  = [in force(c)]                       if q = in force(c)
 *               [in force(c), q since c + 1]        otherwise
 * </pre>
 *
 * <p>So a plan that never got to commit an epoch can be taken back, and one that did cannot.
 *
 * @param checkpointId by which a checkpoint's state is told from that of others
 * @param parallelism partitions of every level's state, at least 1
 * @param plans one or two, in the order in which they were started
 */
record PlanHistory(UUID checkpointId, int parallelism, List<Noted> plans) {
  /**
   * A plan that was started.
   *
   * @param since the first epoch that it may have run
   */
  record Noted(long since, PlanFingerprint plan) {}

  PlanHistory {
    if (parallelism < 1) {
      throw new IllegalArgumentException("its parallelism is " + parallelism + ", which must be at least 1");
    }
    if (plans.isEmpty()) {
      throw new IllegalArgumentException("it holds no plan");
    }
    plans = List.copyOf(plans);
  }

  /** The history of a new checkpoint. */
  static PlanHistory begin(int parallelism, PlanFingerprint plan) {
    return new PlanHistory(UUID.randomUUID(), parallelism, List.of(new Noted(0, plan)));
  }

  /** The plan that the state is of which the epochs up to {@code lastCommitted} have made. */
  PlanFingerprint inForce(long lastCommitted) {
    return noted(lastCommitted).plan();
  }

  /** The history once a plan is started that may go on from {@code lastCommitted}. */
  PlanHistory note(PlanFingerprint started, long lastCommitted) {
    Noted before = noted(lastCommitted);
    return new PlanHistory(
        checkpointId,
        parallelism,
        started.equals(before.plan())
            ? List.of(before)
            : List.of(before, new Noted(lastCommitted + 1, started)));
  }

  private Noted noted(long lastCommitted) {
    Noted found = plans.get(0);
    for (Noted each : plans) {
      if (each.since() <= lastCommitted) {
        found = each;
      }
    }
    return found;
  }

  void writeTo(DataOutputStream out) throws IOException {
    out.writeLong(checkpointId.getMostSignificantBits());
    out.writeLong(checkpointId.getLeastSignificantBits());
    out.writeInt(parallelism);
    out.writeInt(plans.size());
    for (Noted each : plans) {
      byte[] text = each.plan().encode().getBytes(StandardCharsets.UTF_8);
      out.writeLong(each.since());
      out.writeInt(text.length);
      out.write(text);
    }
  }

  static PlanHistory readFrom(DataInputStream in) throws IOException {
    UUID checkpointId = new UUID(in.readLong(), in.readLong());
    int parallelism = in.readInt();
    int count = in.readInt();
    List<Noted> plans = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      long since = in.readLong();
      byte[] text = new byte[in.readInt()];
      in.readFully(text);
      plans.add(
          new Noted(since, PlanFingerprint.decode(new String(text, StandardCharsets.UTF_8))));
    }
    return new PlanHistory(checkpointId, parallelism, plans);
  }
}
