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

import static org.apache.beam.runners.spark.structuredstreaming.translation.PlanTesting.pipeline;
import static org.apache.beam.runners.spark.structuredstreaming.translation.PlanTesting.problems;
import static org.apache.beam.runners.spark.structuredstreaming.translation.PlanTesting.step;
import static org.apache.beam.runners.spark.structuredstreaming.translation.PlanTesting.steps;
import static org.apache.beam.runners.spark.structuredstreaming.translation.PlanTesting.translate;
import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.hasSize;
import static org.hamcrest.Matchers.instanceOf;
import static org.hamcrest.Matchers.startsWith;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.beam.runners.spark.structuredstreaming.translation.PlanTesting.PassFn;
import org.apache.beam.runners.spark.structuredstreaming.translation.UnsupportedPipelineException.Problem;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.coders.BigEndianLongCoder;
import org.apache.beam.sdk.coders.ByteArrayCoder;
import org.apache.beam.sdk.coders.CannotProvideCoderException;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.coders.CoderRegistry;
import org.apache.beam.sdk.coders.DoubleCoder;
import org.apache.beam.sdk.coders.KvCoder;
import org.apache.beam.sdk.coders.ListCoder;
import org.apache.beam.sdk.coders.SerializableCoder;
import org.apache.beam.sdk.coders.StringUtf8Coder;
import org.apache.beam.sdk.coders.VarIntCoder;
import org.apache.beam.sdk.io.GenerateSequence;
import org.apache.beam.sdk.io.Read;
import org.apache.beam.sdk.options.PipelineOptionsFactory;
import org.apache.beam.sdk.runners.AppliedPTransform;
import org.apache.beam.sdk.runners.TransformHierarchy;
import org.apache.beam.sdk.testing.PAssert;
import org.apache.beam.sdk.transforms.Combine;
import org.apache.beam.sdk.transforms.Combine.CombineFn;
import org.apache.beam.sdk.transforms.CombineWithContext.CombineFnWithContext;
import org.apache.beam.sdk.transforms.CombineWithContext.Context;
import org.apache.beam.sdk.transforms.Count;
import org.apache.beam.sdk.transforms.Create;
import org.apache.beam.sdk.transforms.DoFn;
import org.apache.beam.sdk.transforms.DoFnSchemaInformation;
import org.apache.beam.sdk.transforms.GroupByKey;
import org.apache.beam.sdk.transforms.PTransform;
import org.apache.beam.sdk.transforms.ParDo;
import org.apache.beam.sdk.transforms.Redistribute;
import org.apache.beam.sdk.transforms.Reshuffle;
import org.apache.beam.sdk.transforms.Sum;
import org.apache.beam.sdk.transforms.windowing.AfterPane;
import org.apache.beam.sdk.transforms.windowing.FixedWindows;
import org.apache.beam.sdk.transforms.windowing.Repeatedly;
import org.apache.beam.sdk.transforms.windowing.Sessions;
import org.apache.beam.sdk.transforms.windowing.Window;
import org.apache.beam.sdk.util.SerializableUtils;
import org.apache.beam.sdk.values.KV;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PCollectionTuple;
import org.apache.beam.sdk.values.TupleTag;
import org.apache.beam.sdk.values.TupleTagList;
import org.apache.beam.sdk.values.ValueWithRecordId.ValueWithRecordIdCoder;
import org.apache.beam.sdk.values.WindowingStrategy;
import org.joda.time.Duration;
import org.junit.jupiter.api.Test;

/** What each transform becomes. */
class StepTranslationTest {
  private static final Duration TEN_SECONDS = Duration.standardSeconds(10);

  private static PCollection<KV<String, Integer>> numbers(Pipeline pipeline) {
    return pipeline.apply("create", Create.of(KV.of("a", 1), KV.of("b", 2)));
  }

  /** Has an additional output that no coder can be inferred for. */
  static final class UncodableFn extends DoFn<KV<String, Integer>, String> {
    private static final TupleTag<String> MAIN = new TupleTag<>("main") {};
    private static final TupleTag<List<Serializable>> UNCODABLE = new TupleTag<>("aside");

    @ProcessElement
    public void processElement(MultiOutputReceiver outputs) {
      outputs.get(MAIN).output("x");
      outputs.get(UNCODABLE).output(List.of());
    }
  }

  @Test
  void parDoHasItsOutputsMainFirst() {
    Pipeline pipeline = pipeline();
    PCollectionTuple outputs = split(pipeline);
    outputs.get(UncodableFn.UNCODABLE).setCoder(ListCoder.of(SerializableCoder.of(Serializable.class)));

    ParDoStep step = (ParDoStep) step(translate(pipeline), "split");

    DoFnSpec split = step.spec();
    assertThat(split.outputTags(), contains(UncodableFn.MAIN, UncodableFn.UNCODABLE));
    assertThat(split.mainOutputTag(), equalTo(UncodableFn.MAIN));
    assertThat(
        split.outputs().stream().map(PlanCollection::name).toList(),
        contains("split.main", "split.aside"));
    assertThat(split.outputCoders().get(UncodableFn.MAIN), equalTo(StringUtf8Coder.of()));
  }

  private static PCollectionTuple split(Pipeline pipeline) {
    return numbers(pipeline)
        .apply(
            "split",
            ParDo.of(new UncodableFn())
                .withOutputTags(UncodableFn.MAIN, TupleTagList.of(UncodableFn.UNCODABLE)));
  }

  /** Beam demands a coder of every PCollection whenever a pipeline is traversed. */
  @Test
  void beamItselfNamesAPCollectionWithoutCoder() {
    Pipeline pipeline = pipeline();
    split(pipeline);

    IllegalStateException missing =
        assertThrows(IllegalStateException.class, () -> translate(pipeline));

    assertThat(missing.getMessage(), containsString("a default Coder for split.aside"));
    assertThat(missing.getMessage(), containsString(".setCoder()"));
  }

  @Test
  void collectionWithoutCoderIsLeftOutOfTheOutputCodersAndNamedWhenAskedForIt() {
    PlanCollection none = collection(null);
    DoFnSpec spec =
        new DoFnSpec(
            new PassFn<>(),
            DoFnSchemaInformation.create(),
            collection(VarIntCoder.of()),
            List.of(UncodableFn.MAIN, UncodableFn.UNCODABLE),
            List.of(collection(StringUtf8Coder.of()), none),
            Map.of());

    assertThat(spec.outputCoders().keySet(), contains(UncodableFn.MAIN));
    assertThat(none.hasCoder(), equalTo(false));
    assertThat(
        assertThrows(IllegalStateException.class, none::coder).getMessage(),
        equalTo("PCollection made.out has no coder: call setCoder on it where it is made."));
  }

  @Test
  void groupByKeyBecomesAGroupByKeyStep() {
    Pipeline pipeline = pipeline();
    numbers(pipeline).apply("group", GroupByKey.create());

    GroupByKeyStep group = (GroupByKeyStep) step(translate(pipeline), "group");

    assertThat(group.keyCoder(), equalTo(StringUtf8Coder.of()));
    assertThat(group.valueCoder(), equalTo(VarIntCoder.of()));
  }

  private static CombineStep combine(Window<KV<String, Integer>> window) {
    Pipeline pipeline = pipeline();
    numbers(pipeline).apply(window).apply("sum", Sum.integersPerKey());
    return (CombineStep) step(translate(pipeline), "sum");
  }

  @Test
  void combineIsLiftedWithTheDefaultTriggerOnly() {
    FixedWindows fixed = FixedWindows.of(TEN_SECONDS);

    CombineStep plain = combine(Window.into(fixed));
    assertThat(plain.lifted(), equalTo(true));
    assertThat(plain.keyCoder(), equalTo(StringUtf8Coder.of()));
    assertThat(plain.combineFn(), instanceOf(CombineFn.class));
    assertThat(combine(Window.into(Sessions.withGapDuration(TEN_SECONDS))).lifted(), equalTo(true));
    assertThat(
        combine(
                Window.<KV<String, Integer>>into(fixed)
                    .triggering(Repeatedly.forever(AfterPane.elementCountAtLeast(1)))
                    .withAllowedLateness(Duration.ZERO)
                    .discardingFiredPanes())
            .lifted(),
        equalTo(false));
  }

  /** Its accumulators are objects that no coder is known for, unless one is given. */
  static final class ObjectFn extends CombineFn<Integer, Object, Integer> {
    private final boolean returnsNull;

    ObjectFn(boolean returnsNull) {
      this.returnsNull = returnsNull;
    }

    @Override
    public Object createAccumulator() {
      return new Object();
    }

    @Override
    public Object addInput(Object accumulator, Integer input) {
      return accumulator;
    }

    @Override
    public Object mergeAccumulators(Iterable<Object> accumulators) {
      return new Object();
    }

    @Override
    public Integer extractOutput(Object accumulator) {
      return 0;
    }

    @Override
    public Coder<Integer> getDefaultOutputCoder(CoderRegistry registry, Coder<Integer> inputCoder) {
      return VarIntCoder.of();
    }

    @Override
    public Coder<Object> getAccumulatorCoder(CoderRegistry registry, Coder<Integer> inputCoder)
        throws CannotProvideCoderException {
      return returnsNull ? null : super.getAccumulatorCoder(registry, inputCoder);
    }
  }

  @Test
  void combineWithoutAccumulatorCoderIsRefused() {
    for (boolean returnsNull : new boolean[] {false, true}) {
      List<Problem> problems =
          problems(
              pipeline ->
                  numbers(pipeline).apply("combine", Combine.perKey(new ObjectFn(returnsNull))));
      assertThat(problems, hasSize(1));
      assertThat(problems.get(0).transform(), equalTo("combine"));
      assertThat(
          problems.get(0).reason(),
          startsWith("no coder for the accumulators of " + ObjectFn.class.getName() + ": override"));
    }
  }

  /** Sums with a context that it does not use. */
  static final class ContextFn extends CombineFnWithContext<Integer, Integer, Integer> {
    @Override
    public Integer createAccumulator(Context context) {
      return 0;
    }

    @Override
    public Integer addInput(Integer accumulator, Integer input, Context context) {
      return accumulator + input;
    }

    @Override
    public Integer mergeAccumulators(Iterable<Integer> accumulators, Context context) {
      return 0;
    }

    @Override
    public Integer extractOutput(Integer accumulator, Context context) {
      return accumulator;
    }
  }

  @Test
  void combineWithContextIsAParDoBehindAGrouping() {
    Pipeline pipeline = pipeline();
    numbers(pipeline)
        .apply("combine", Combine.<String, Integer, Integer>perKey(new ContextFn()));

    Plan plan = translate(pipeline);

    assertThat(steps(plan, CombineStep.class), empty());
    assertThat(steps(plan, GroupByKeyStep.class), hasSize(1));
  }

  @Test
  void hotKeyFanoutExpandsIntoTwoCombines() {
    Pipeline pipeline = pipeline();
    numbers(pipeline)
        .apply("sum", Combine.<String, Integer, Integer>perKey(Sum.ofIntegers()).withHotKeyFanout(4));

    Plan plan = translate(pipeline);

    List<CombineStep> combines = steps(plan, CombineStep.class);
    assertThat(combines.stream().map(CombineStep::level).toList(), contains(1, 2));
    assertThat(combines.stream().allMatch(CombineStep::lifted), equalTo(true));
  }

  @Test
  void groupedValuesAreCombinedByAParDo() {
    Pipeline pipeline = pipeline();
    numbers(pipeline)
        .apply("group", GroupByKey.create())
        .apply("sum", Combine.groupedValues(Sum.ofIntegers()));

    Plan plan = translate(pipeline);

    assertThat(steps(plan, CombineStep.class), empty());
    assertThat(plan.levels().get(1).fused(), hasSize(1));
    assertThat(plan.levels().get(1).fused().get(0), instanceOf(ParDoStep.class));
  }

  @Test
  void everyReshuffleAndRedistributeIsOneStep() {
    Pipeline pipeline = pipeline();
    PCollection<KV<String, Integer>> input = numbers(pipeline);
    input.apply("reshuffle", Reshuffle.of());
    input.apply("random", Reshuffle.viaRandomKey());
    input.apply("by key", Redistribute.byKey());
    input.apply("arbitrarily", Redistribute.arbitrarily());

    Plan plan = translate(pipeline);

    List<RedistributeStep> steps = steps(plan, RedistributeStep.class);
    assertThat(
        steps.stream().map(step -> step.fullName() + " " + step.byKey()).toList(),
        contains("reshuffle true", "random false", "by key true", "arbitrarily false"));
    assertThat(plan.levels(), hasSize(2));
    assertThat(plan.levels().get(1).fused(), empty());
  }

  @Test
  void groupingsStayEncryptedWhereTheOptionsAskForIt() {
    Pipeline pipeline =
        Pipeline.create(
            PipelineOptionsFactory.fromArgs(
                    "--gbek=type:gcpsecret;version_name:projects/p/secrets/s/versions/1")
                .create());
    PCollection<KV<String, Integer>> input = numbers(pipeline);
    input.apply("reshuffle", Reshuffle.of());
    input.apply("sum", Sum.integersPerKey());

    Plan plan = translate(pipeline);

    assertThat(steps(plan, RedistributeStep.class), empty());
    assertThat(steps(plan, CombineStep.class), empty());
    assertThat(steps(plan, GroupByKeyStep.class), hasSize(2));
    for (GroupByKeyStep group : steps(plan, GroupByKeyStep.class)) {
      assertThat(group.keyCoder(), instanceOf(ByteArrayCoder.class));
    }
  }

  @Test
  void createAndSequencesAreReads() {
    Pipeline pipeline = pipeline();
    pipeline.apply("many", Create.of(1, 2, 3));
    pipeline.apply("one", Create.of(1));
    pipeline.apply("none", Create.empty(VarIntCoder.of()));
    pipeline.apply("bounded", GenerateSequence.from(0).to(10));
    pipeline.apply("unbounded", GenerateSequence.from(0));
    pipeline.apply("limited", GenerateSequence.from(0).to(5).withRate(1, TEN_SECONDS));

    Plan plan = translate(pipeline);

    assertThat(
        plan.sources().stream().map(step -> step.source().getClass().getSimpleName()).toList(),
        contains(
            "BoundedReadSource",
            "ImpulseSource",
            "ImpulseSource",
            "BoundedReadSource",
            "UnboundedCountingSource",
            "ImpulseSource"));
  }

  @Test
  void aSourceThatMayGiveARecordTwiceIsReadWithIdsThatADeduplicateStepTakesOff() {
    Pipeline pipeline = pipeline();
    pipeline.apply("again", Read.from(new PlanTesting.StringsSource(true)));

    Plan plan = translate(pipeline);

    ReadStep read = (ReadStep) step(plan, "again");
    assertThat(read.source(), instanceOf(RecordIdSource.class));
    assertThat(read.output().coder(), equalTo(ValueWithRecordIdCoder.of(StringUtf8Coder.of())));
    DeduplicateStep deduplicate = (DeduplicateStep) step(plan, "again/Deduplicate");
    assertThat(deduplicate.input(), equalTo(read.output()));
    assertThat(deduplicate.output().coder(), equalTo(StringUtf8Coder.of()));
    assertThat(deduplicate.level(), equalTo(1));
  }

  @Test
  void assertionsOnCollectionsAreTranslated() {
    Pipeline pipeline = pipeline();
    PCollection<Integer> values = pipeline.apply("values", Create.of(1, 2, 3));
    PAssert.that(values).containsInAnyOrder(1, 2, 3);
    PAssert.that(values.apply(Window.into(FixedWindows.of(TEN_SECONDS)))).containsInAnyOrder(1, 2, 3);
    PAssert.thatSingleton(values.apply("count", Count.globally())).isEqualTo(3L);
    PAssert.that(numbers(pipeline).apply(GroupByKey.create())).satisfies(ignored -> null);
    PAssert.that(pipeline.apply("ticks", GenerateSequence.from(0))).empty();

    SerializableUtils.ensureSerializable(translate(pipeline));
  }

  private static TranslationContext context(Pipeline pipeline, List<Problem> problems) {
    PTransform<PCollection<KV<String, Integer>>, ?> transform = Reshuffle.of();
    AppliedPTransform<?, ?, ?>[] found = new AppliedPTransform<?, ?, ?>[1];
    numbers(pipeline).apply("shuffle", Reshuffle.of());
    pipeline.traverseTopologically(
        new Pipeline.PipelineVisitor.Defaults() {
          @Override
          public CompositeBehavior enterCompositeTransform(
              TransformHierarchy.Node node) {
            if (!node.isRootNode() && transform.getClass().isInstance(node.getTransform())) {
              found[0] = node.toAppliedPTransform(getPipeline());
            }
            return CompositeBehavior.ENTER_TRANSFORM;
          }
        });
    return new TranslationContext(new PlanBuilder(true), problems, found[0], Set.of());
  }

  private static PlanCollection collection(Coder<?> coder) {
    return new PlanCollection(0, "made.out", coder, WindowingStrategy.globalDefault());
  }

  @Test
  void whatCannotBeShuffledByKeySaysWhy() {
    List<Problem> problems = new ArrayList<>();
    TranslationContext context = context(pipeline(), problems);

    assertThat(context.requireCoder(collection(null)), equalTo(false));
    assertThat(context.requireKeyed(collection(null)), equalTo(false));
    assertThat(context.requireKeyed(collection(BigEndianLongCoder.of())), equalTo(false));
    assertThat(
        context.requireKeyed(
            collection(
                KvCoder.of(
                    DoubleCoder.of(), VarIntCoder.of()))),
        equalTo(false));

    Problem noCoder =
        new Problem(
            "shuffle",
            "shuffles PCollection made.out, which has no coder: call setCoder on it where it is made");
    assertThat(problems.subList(0, 2), contains(noCoder, noCoder));
    assertThat(
        problems.get(2).reason(),
        equalTo(
            "groups its input by key, but the elements of PCollection made.out are no KVs: their"
                + " coder is BigEndianLongCoder, it has to be a KvCoder"));
    assertThat(
        problems.get(3).reason(),
        containsString("the keyCoder of a GroupByKey must be deterministic, that of PCollection"));
  }

  @Test
  void leafParDoIsAStep() {
    Pipeline pipeline = pipeline();
    numbers(pipeline).apply("leaf", ParDo.of(new PassFn<>()));

    ParDoStep leaf = (ParDoStep) step(translate(pipeline), "leaf/ParMultiDo(Pass)");

    assertThat(leaf.spec().additionalOutputTags(), empty());
    assertThat(leaf.spec().doFn(), instanceOf(PassFn.class));
  }
}
