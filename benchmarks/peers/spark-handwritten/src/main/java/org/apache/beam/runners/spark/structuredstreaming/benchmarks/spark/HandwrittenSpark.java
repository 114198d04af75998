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
package org.apache.beam.runners.spark.structuredstreaming.benchmarks.spark;

import static org.apache.spark.sql.functions.aggregate;
import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.collect_list;
import static org.apache.spark.sql.functions.expr;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.pmod;
import static org.apache.spark.sql.functions.shiftrightunsigned;
import static org.apache.spark.sql.functions.sum;
import static org.apache.spark.sql.functions.timestamp_millis;
import static org.apache.spark.sql.functions.unix_millis;
import static org.apache.spark.sql.functions.when;
import static org.apache.spark.sql.functions.window;

import java.io.IOException;
import java.nio.file.Files;
import java.util.concurrent.TimeoutException;
import org.apache.beam.runners.spark.structuredstreaming.benchmarks.Benchmark;
import org.apache.beam.runners.spark.structuredstreaming.benchmarks.BenchmarkOptions;
import org.apache.beam.runners.spark.structuredstreaming.benchmarks.Results;
import org.apache.spark.api.java.function.VoidFunction2;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.streaming.StreamingQueryException;

/**
 * The workloads {@code sum} and {@code group} as queries of Spark Structured Streaming, over the same
 * records: the limit of what a runner on Spark can come to.
 */
public final class HandwrittenSpark {
  private static final long KEYS = 1000;
  private static final long RECORDS_PER_MILLISECOND = 5;
  private static final long ROWS_PER_BATCH = 1_000_000;
  private static final long A_DAY = 86_400_000;

  private HandwrittenSpark() {}

  /** Runs the query that the arguments name; they are those of {@link Benchmark}. */
  public static void main(String[] args) {
    Benchmark.main(args, options -> () -> run(options));
  }

  private static void run(BenchmarkOptions options)
      throws IOException, StreamingQueryException, TimeoutException {
    SparkSession spark =
        SparkSession.builder()
            .master("local[2]")
            .config("spark.sql.shuffle.partitions", 2)
            .getOrCreate();
    results(options.getWorkload(), records(spark, options.getRecords()))
        .writeStream()
        .outputMode("append")
        .option("checkpointLocation", Files.createTempDirectory("checkpoint").toString())
        .foreachBatch((VoidFunction2<Dataset<Row>, Long>) (batch, epoch) -> collect(batch))
        .start()
        .awaitTermination();
  }

  /** Key, value and event time of the records; one behind the last closes their windows. */
  private static Dataset<Row> records(SparkSession spark, long records) {
    Column number = col("value");
    return spark
        .readStream()
        .format("rate-micro-batch")
        .option("rowsPerBatch", ROWS_PER_BATCH)
        .option("numPartitions", 2)
        .load()
        .filter(number.leq(records))
        .select(
            pmod(mix(number), lit(KEYS)).as("key"),
            number.bitwiseAND(1023L).as("value"),
            timestamp_millis(
                    when(number.lt(records), expr("value div " + RECORDS_PER_MILLISECOND))
                        .otherwise(records + A_DAY))
                .as("time"))
        .withWatermark("time", "0 seconds");
  }

  /** {@code Results.mix} as an expression. */
  private static Column mix(Column number) {
    Column mixed = number.plus(0x9E3779B97F4A7C15L);
    mixed = mixed.bitwiseXOR(shiftrightunsigned(mixed, 30)).multiply(0xBF58476D1CE4E5B9L);
    mixed = mixed.bitwiseXOR(shiftrightunsigned(mixed, 27)).multiply(0x94D049BB133111EBL);
    return mixed.bitwiseXOR(shiftrightunsigned(mixed, 31));
  }

  private static Dataset<Row> results(String workload, Dataset<Row> records) {
    var groups = records.groupBy(window(col("time"), "1 minute"), col("key"));
    return switch (workload) {
      case "sum" -> groups.agg(sum("value").as("sum"));
      case "group" ->
          groups
              .agg(collect_list("value").as("values"))
              .withColumn("sum", aggregate(col("values"), lit(0L), Column::plus));
      default -> throw new IllegalArgumentException("There is no query for " + workload);
    };
  }

  private static void collect(Dataset<Row> batch) {
    for (Row result :
        batch.select(col("key"), unix_millis(col("window.end")), col("sum")).collectAsList()) {
      Results.add(result.getLong(0), result.getLong(1) - 1, result.getLong(2));
    }
  }
}
