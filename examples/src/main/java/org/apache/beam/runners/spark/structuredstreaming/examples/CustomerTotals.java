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
package org.apache.beam.runners.spark.structuredstreaming.examples;

import org.apache.avro.generic.GenericRecord;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.PipelineResult;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.extensions.avro.coders.AvroCoder;
import org.apache.beam.sdk.extensions.avro.io.AvroIO;
import org.apache.beam.sdk.io.TextIO;
import org.apache.beam.sdk.options.Default;
import org.apache.beam.sdk.options.Description;
import org.apache.beam.sdk.options.PipelineOptions;
import org.apache.beam.sdk.transforms.MapElements;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.join.CoGroupByKey;
import org.apache.beam.sdk.transforms.join.KeyedPCollectionTuple;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PCollectionTuple;
import org.apache.beam.sdk.values.TupleTagList;
import org.apache.beam.sdk.values.TypeDescriptors;

/**
 * Joins customers and their orders by {@link CoGroupByKey}, a bounded pipeline that runs as a batch: a
 * record with every customer's total goes to Avro files, orders that have no customer to text files.
 *
 * <p>A customer is a line {@code id,name,country}, an order a line {@code id,customer id,cents}. A line
 * of another form fails the pipeline, which says which line it is.
 */
public final class CustomerTotals {
  private CustomerTotals() {}

  /** Options of the example, beside those of the runner. */
  public interface Options extends PipelineOptions {
    @Description("Text file of customers, or a glob.")
    @Default.String("examples/src/main/data/customers.csv")
    String getCustomers();

    void setCustomers(String customers);

    @Description("Text file of orders, or a glob.")
    @Default.String("examples/src/main/data/orders.csv")
    String getOrders();

    void setOrders(String orders);

    @Description("Directory for the files to write.")
    @Default.String("target/customer-totals")
    String getTotals();

    void setTotals(String totals);
  }

  /** Runs the example to its end; see {@link Options} for its arguments. */
  public static void main(String[] args) {
    PipelineResult.State state = run(args);
    System.out.println(state);
  }

  static PipelineResult.State run(String... args) {
    return pipeline(ExampleArguments.options(Options.class, args)).run().waitUntilFinish();
  }

  /** The pipeline, not yet run. */
  static Pipeline pipeline(Options options) {
    Pipeline pipeline = Pipeline.create(options);
    PCollection<KV<String, String>> customers =
        keyed(pipeline, "Customers", options.getCustomers(), 0);
    PCollection<KV<String, String>> orders = keyed(pipeline, "Orders", options.getOrders(), 1);
    PCollectionTuple totals =
        KeyedPCollectionTuple.of(TotalFn.CUSTOMERS, customers)
            .and(TotalFn.ORDERS, orders)
            .apply("Join", CoGroupByKey.create())
            .apply(
                "Total",
                ParDo.of(new TotalFn())
                    .withOutputTags(TotalFn.TOTALS, TupleTagList.of(TotalFn.UNKNOWN)));
    totals
        .get(TotalFn.TOTALS)
        .setCoder(AvroCoder.of(GenericRecord.class, TotalFn.schema()))
        .apply(
            "WriteTotals",
            AvroIO.writeGenericRecords(TotalFn.schema())
                .to(options.getTotals() + "/totals")
                .withSuffix(".avro"));
    totals
        .get(TotalFn.UNKNOWN)
        .setCoder(StringUtf8Coder.of())
        .apply(
            "WriteUnknown",
            TextIO.write().to(options.getTotals() + "/without-customer").withSuffix(".csv"));
    return pipeline;
  }

  private static PCollection<KV<String, String>> keyed(
      Pipeline pipeline, String name, String files, int keyField) {
    return pipeline
        .apply("Read" + name, TextIO.read().from(files))
        .apply(
            "Key" + name,
            MapElements.into(TypeDescriptors.kvs(TypeDescriptors.strings(), TypeDescriptors.strings()))
                .via(line -> KV.of(TotalFn.fields(line)[keyField], line)));
  }
}
