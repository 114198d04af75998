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
package org.apache.beam.runners.spark.structuredstreaming.comparison;

import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.schemas.FieldAccessDescriptor;
import org.apache.beam.sdk.schemas.JavaFieldSchema;
import org.apache.beam.sdk.schemas.Schema;
import org.apache.beam.sdk.schemas.Schema.FieldType;
import org.apache.beam.sdk.schemas.annotations.DefaultSchema;
import org.apache.beam.sdk.schemas.transforms.AddFields;
import org.apache.beam.sdk.schemas.transforms.Cast;
import org.apache.beam.sdk.schemas.transforms.CoGroup;
import org.apache.beam.sdk.schemas.transforms.Convert;
import org.apache.beam.sdk.schemas.transforms.DropFields;
import org.apache.beam.sdk.schemas.transforms.Filter;
import org.apache.beam.sdk.schemas.transforms.Group;
import org.apache.beam.sdk.schemas.transforms.Join;
import org.apache.beam.sdk.schemas.transforms.RenameFields;
import org.apache.beam.sdk.schemas.transforms.Select;
import org.apache.beam.sdk.schemas.transforms.WithKeys;
import org.apache.beam.sdk.transforms.Count;
import org.apache.beam.sdk.transforms.Create;
import org.apache.beam.sdk.transforms.JsonToRow;
import org.apache.beam.sdk.transforms.MapElements;
import org.apache.beam.sdk.transforms.Max;
import org.apache.beam.sdk.transforms.Sum;
import org.apache.beam.sdk.transforms.ToJson;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PCollectionTuple;
import org.apache.beam.sdk.values.Row;
import org.apache.beam.sdk.values.TypeDescriptors;

/** Transforms of elements with a schema. */
final class SchemaPipelines {
  private static final Schema ORDER =
      Schema.builder()
          .addStringField("customer")
          .addInt32Field("amount")
          .addInt64Field("number")
          .build();
  private static final Schema CUSTOMER =
      Schema.builder().addStringField("customer").addStringField("city").build();

  private SchemaPipelines() {}

  static void addTo(Map<String, ComparedPipeline> all) {
    all.put("fields", SchemaPipelines::fields);
    all.put("nested fields", SchemaPipelines::nested);
    all.put("rows and objects", SchemaPipelines::objects);
    all.put("rows and JSON", SchemaPipelines::json);
    all.put("groups of rows", SchemaPipelines::groups);
    all.put("joins of rows", SchemaPipelines::joins);
    all.put("co-groups of rows", SchemaPipelines::coGroups);
  }

  private static PCollection<Row> orders(Pipeline pipeline) {
    List<Row> rows =
        IntStream.range(0, 30)
            .mapToObj(
                n -> Row.withSchema(ORDER).addValues("customer" + n % 4, n * 3, (long) n).build())
            .toList();
    return pipeline.apply("orders", Create.of(rows).withRowSchema(ORDER));
  }

  private static PCollection<Row> customers(Pipeline pipeline) {
    List<Row> rows =
        IntStream.range(2, 6)
            .mapToObj(
                n -> Row.withSchema(CUSTOMER).addValues("customer" + n, "city" + n % 2).build())
            .toList();
    return pipeline.apply("customers", Create.of(rows).withRowSchema(CUSTOMER));
  }

  private static void fields(Pipeline pipeline, Outcome outcome) {
    PCollection<Row> orders = orders(pipeline);
    outcome.of("Select", orders.apply(Select.fieldNames("customer", "number")));
    outcome.of(
        "Filter",
        orders.apply(Filter.<Row>create().whereFieldName("amount", (Integer amount) -> amount > 40)));
    outcome.of(
        "AddFields",
        orders.apply(AddFields.<Row>create().field("paid", FieldType.BOOLEAN, false)));
    outcome.of("RenameFields", orders.apply(RenameFields.<Row>create().rename("amount", "cents")));
    outcome.of("DropFields", orders.apply(DropFields.fields("amount")));
    outcome.of(
        "widening",
        orders.apply(
            "Widen",
            Cast.widening(
                Schema.builder()
                    .addStringField("customer")
                    .addInt64Field("amount")
                    .addInt64Field("number")
                    .build())));
    outcome.of(
        "narrowing",
        orders.apply(
            "Narrow",
            Cast.narrowing(
                Schema.builder()
                    .addStringField("customer")
                    .addInt16Field("amount")
                    .addInt32Field("number")
                    .build())));
    outcome.of(
        "WithKeys", orders.apply(WithKeys.of(FieldAccessDescriptor.withFieldNames("customer"))));
  }

  private static void nested(Pipeline pipeline, Outcome outcome) {
    PCollection<Row> keyed =
        orders(pipeline)
            .apply(Group.<Row>byFieldNames("customer").aggregateField("amount", Sum.ofIntegers(), "total"));
    outcome.of("flattened", keyed.apply(Select.flattenedSchema()));
    outcome.of("one of them", keyed.apply(Select.fieldNames("key.customer")));
  }

  private static void objects(Pipeline pipeline, Outcome outcome) {
    PCollection<Order> objects = orders(pipeline).apply(Convert.fromRows(Order.class));
    outcome.of(
        "objects",
        objects.apply(
            MapElements.into(TypeDescriptors.strings())
                .via(order -> order.customer + " " + order.amount + " " + order.number)));
    outcome.of("rows", objects.apply(Convert.toRows()));
    outcome.of(
        "Convert.to",
        objects
            .apply(Convert.to(Customer.class))
            .apply("Names", MapElements.into(TypeDescriptors.strings()).via(one -> one.customer)));
  }

  /** An order as a plain object. */
  @DefaultSchema(JavaFieldSchema.class)
  static final class Order {
    public String customer;
    public int amount;
    public long number;
  }

  /** The same fields in another class. */
  @DefaultSchema(JavaFieldSchema.class)
  static final class Customer {
    public String customer;
    public int amount;
    public long number;
  }

  private static void json(Pipeline pipeline, Outcome outcome) {
    PCollection<String> json = orders(pipeline).apply(ToJson.of());
    outcome.of("ToJson", json);
    outcome.of("JsonToRow", json.apply(JsonToRow.withSchema(ORDER)));
    JsonToRow.ParseResult parsed =
        ComparedPipelines.words(pipeline)
            .apply(JsonToRow.withExceptionReporting(ORDER));
    outcome.of("failures", parsed.getFailedToParseLines().apply(Select.fieldNames("line")));
  }

  private static void groups(Pipeline pipeline, Outcome outcome) {
    PCollection<Row> orders = orders(pipeline);
    outcome.of("byFieldNames", orders.apply(Group.byFieldNames("customer")));
    outcome.of("globally", orders.apply(Group.globally()));
    outcome.of(
        "aggregate",
        orders.apply("Aggregate", Group.<Row>globally().aggregate(Count.combineFn())));
    outcome.of(
        "aggregateField",
        orders.apply(
            "PerCustomer",
            Group.<Row>byFieldNames("customer")
                .aggregateField("amount", Sum.ofIntegers(), "total")
                .aggregateField("number", Max.ofLongs(), "last")));
    outcome.of(
        "aggregateField globally",
        orders.apply(
            "OfAll",
            Group.<Row>globally().aggregateField("amount", Sum.ofIntegers(), "total")));
  }

  private static void joins(Pipeline pipeline, Outcome outcome) {
    PCollection<Row> orders = orders(pipeline);
    PCollection<Row> customers = customers(pipeline);
    outcome.of("inner", orders.apply("Inner", Join.<Row, Row>innerJoin(customers).using("customer")));
    outcome.of("left", orders.apply("Left", Join.<Row, Row>leftOuterJoin(customers).using("customer")));
    outcome.of("right", orders.apply("Right", Join.<Row, Row>rightOuterJoin(customers).using("customer")));
    outcome.of("full", orders.apply("Full", Join.<Row, Row>fullOuterJoin(customers).using("customer")));
    outcome.of(
        "inner broadcast",
        orders.apply("Broadcast", Join.<Row, Row>innerBroadcastJoin(customers).using("customer")));
    outcome.of(
        "left broadcast",
        orders.apply(
            "LeftBroadcast", Join.<Row, Row>leftOuterBroadcastJoin(customers).using("customer")));
  }

  private static void coGroups(Pipeline pipeline, Outcome outcome) {
    PCollectionTuple both =
        PCollectionTuple.of("orders", orders(pipeline)).and("customers", customers(pipeline));
    outcome.of("grouped", both.apply("Grouped", CoGroup.join(CoGroup.By.fieldNames("customer"))));
    outcome.of(
        "product",
        both.apply(
            "Product",
            CoGroup.join("orders", CoGroup.By.fieldNames("customer"))
                .join("customers", CoGroup.By.fieldNames("customer").withOptionalParticipation())
                .crossProductJoin()));
  }
}
