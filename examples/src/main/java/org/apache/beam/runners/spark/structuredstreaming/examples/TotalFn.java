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

import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.generic.GenericRecordBuilder;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.join.CoGbkResult;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.TupleTag;

/** Adds up the orders of a customer; the orders go on alone where there is no such customer. */
final class TotalFn extends DoFn<KV<String, CoGbkResult>, GenericRecord> {
  static final TupleTag<String> CUSTOMERS = new TupleTag<>("customers");
  static final TupleTag<String> ORDERS = new TupleTag<>("orders");
  static final TupleTag<GenericRecord> TOTALS = new TupleTag<>("totals");
  static final TupleTag<String> UNKNOWN = new TupleTag<>("unknown");

  private static final int FIELDS = 3;

  // Made where it is used: Avro's classes are loaded on each executor.
  private transient Schema schema;

  /** What is written of each customer. */
  static Schema schema() {
    return SchemaBuilder.record("CustomerTotal")
        .namespace("org.apache.beam.runners.spark.structuredstreaming.examples")
        .fields()
        .requiredString("customer")
        .requiredString("name")
        .requiredString("country")
        .requiredLong("orders")
        .requiredLong("cents")
        .endRecord();
  }

  /**
   * The fields of a line.
   *
   * @throws IllegalArgumentException if there are not three
   */
  static String[] fields(String line) {
    String[] fields = line.split(",", -1);
    if (fields.length != FIELDS) {
      throw new IllegalArgumentException(
          "The line '" + line + "' has " + fields.length + " fields; expected are " + FIELDS
              + ", separated by commas: id,name,country or id,customer id,cents");
    }
    return fields;
  }

  @Setup
  public void setUp() {
    schema = schema();
  }

  @ProcessElement
  public void process(@Element KV<String, CoGbkResult> joined, MultiOutputReceiver out) {
    long orders = 0;
    long cents = 0;
    String customer = joined.getValue().getOnly(CUSTOMERS, null);
    for (String order : joined.getValue().getAll(ORDERS)) {
      if (customer == null) {
        out.get(UNKNOWN).output(order);
      } else {
        orders++;
        cents = Math.addExact(cents, cents(order));
      }
    }
    if (customer != null) {
      String[] fields = fields(customer);
      out.get(TOTALS)
          .output(
              new GenericRecordBuilder(schema)
                  .set("customer", fields[0])
                  .set("name", fields[1])
                  .set("country", fields[2])
                  .set("orders", orders)
                  .set("cents", cents)
                  .build());
    }
  }

  private static long cents(String order) {
    String field = fields(order)[2];
    try {
      return Long.parseLong(field);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "The order '" + order + "' has '" + field + "' for cents; expected is a whole number", e);
    }
  }
}
