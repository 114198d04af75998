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
package org.apache.beam.runners.spark.structuredstreaming.properties;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.lessThanOrEqualTo;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.beam.runners.spark.structuredstreaming.testing.Await;
import org.apache.beam.runners.spark.structuredstreaming.testing.ForkedProgram;
import org.apache.beam.runners.spark.structuredstreaming.testing.WaitPoints;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What {@link EpochCostTest} says in rows, in time: an epoch that touches 100 keys takes about as long
 * with very many keys in state as with few, and neither state nor timers are held on the heap. The full
 * size is {@code -Dmanykeys.keys=1000000}.
 */
class ManyKeysTest {
  private static final int FEW = 10_000;
  private static final int MANY = Integer.getInteger("manykeys.keys", 200_000);
  private static final double RATIO = 1.3;
  private static final String HEAP = "2g";
  private static final long LIMIT_MINUTES = 15L + MANY / 250_000;

  @TempDir Path directory;

  /** A process with many or few keys. */
  private final class Keys implements AutoCloseable {
    private final WaitPoints waitPoints;
    private final Path median;
    private final ForkedProgram.Running running;

    Keys(int keys) throws IOException {
      Path own = Files.createDirectories(directory.resolve(Integer.toString(keys)));
      waitPoints = new WaitPoints(own.resolve("waiting"));
      median = own.resolve("median");
      running =
          new ForkedProgram(ManyKeysPipeline.class, HEAP, LIMIT_MINUTES)
              .start(
                  own.resolve("log"),
                  List.of(
                      own.resolve("waiting").toString(),
                      median.toString(),
                      Integer.toString(keys),
                      "--runner=SparkStructuredStreamingRunner",
                      "--useActiveSparkSession=true",
                      "--streaming=true",
                      "--checkpointDir=" + own.resolve("checkpoint"),
                      "--maxBatchDurationMillis=600000",
                      "--maxIdlePauseMillis=20",
                      "--maxRestarts=0"));
      awaitRound(0);
    }

    private void awaitRound(int round) {
      Await.until(
          "the beginning of round " + round,
          TimeUnit.MINUTES.toSeconds(LIMIT_MINUTES),
          () -> waitPoints.isReached(ManyKeysPipeline.waitPoint(round)),
          running::printed);
    }

    void runRound(int round) {
      waitPoints.open(ManyKeysPipeline.waitPoint(round));
      awaitRound(round + 1);
    }

    /** Lets the program end, and returns its median milliseconds of an epoch. */
    double end() throws IOException, InterruptedException {
      waitPoints.open(ManyKeysPipeline.waitPoint(ManyKeysPipeline.ROUNDS));
      running.awaitEnd();
      System.out.println(running.printed());
      return Double.parseDouble(Files.readString(median));
    }

    @Override
    public void close() {
      running.close();
    }
  }

  /** By turns, as the machine may be busier at one time than at another. */
  @Test
  void anEpochTakesNoLongerForKeysThatItDoesNotTouch() throws Exception {
    try (Keys many = new Keys(MANY);
        Keys few = new Keys(FEW)) {
      for (int round = 0; round < ManyKeysPipeline.ROUNDS; round++) {
        few.runRound(round);
        many.runRound(round);
      }
      double fewMillis = few.end();
      double manyMillis = many.end();
      System.out.printf("%,d keys: %.0f ms; %,d keys: %.0f ms%n", FEW, fewMillis, MANY, manyMillis);
      assertThat(manyMillis, lessThanOrEqualTo(fewMillis * RATIO));
    }
  }
}
