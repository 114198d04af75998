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

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.greaterThanOrEqualTo;
import static org.hamcrest.Matchers.is;

import java.io.IOException;
import java.lang.reflect.Modifier;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.runners.TransformHierarchy.Node;
import org.apache.beam.sdk.transforms.Combine;
import org.apache.beam.sdk.transforms.CombineFnBase;
import org.apache.beam.sdk.transforms.PTransform;
import org.apache.beam.sdk.transforms.windowing.Trigger;
import org.apache.beam.sdk.transforms.windowing.WindowFn;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.PValue;
import org.junit.jupiter.api.Test;

/**
 * The compared pipelines use whatever Beam's library has: every class of these packages that is a
 * transform, a window function or a trigger, and every class with a combine function, is in one of them.
 * A new version of Beam with a new transform makes this fail until a pipeline has it.
 */
class TransformsInUseTest {
  private static final List<String> PACKAGES =
      List.of(
          "org/apache/beam/sdk/transforms/",
          "org/apache/beam/sdk/transforms/join/",
          "org/apache/beam/sdk/transforms/windowing/",
          "org/apache/beam/sdk/schemas/transforms/");

  /** What no pipeline can have, and why. */
  private static final Map<String, String> LEFT_OUT =
      Map.of(
          "transforms.ReifyTimestamps$ExtractTimestampsFromValues", "not public: Reify has it",
          "transforms.ReifyTimestamps$InValues", "not public: Reify has it",
          "transforms.ReifyTimestamps$RemoveWildcard", "not public: Reify has it");

  @Test
  void everyTransformOfTheLibraryIsInUse() throws IOException, ClassNotFoundException, URISyntaxException {
    Set<String> used = used();
    Set<String> missing = new TreeSet<>();
    for (Class<?> candidate : library()) {
      if (!used.contains(nameOf(candidate)) && !LEFT_OUT.containsKey(nameOf(candidate))) {
        missing.add(nameOf(candidate));
      }
    }
    assertThat(missing, is(empty()));
    assertThat("left out, but in use", used.stream().filter(LEFT_OUT::containsKey).toList(), is(empty()));
  }

  @Test
  void thereAreThirtyPipelines() {
    assertThat(ComparedPipelines.all().size(), is(greaterThanOrEqualTo(30)));
  }

  /** The name within Beam; of combine functions, many of which are private, that of the outermost class. */
  private static String nameOf(Class<?> type) {
    Class<?> named = type;
    if (CombineFnBase.GlobalCombineFn.class.isAssignableFrom(type)) {
      while (named.getEnclosingClass() != null) {
        named = named.getEnclosingClass();
      }
    }
    return named.getName().substring("org.apache.beam.sdk.".length());
  }

  private static List<Class<?>> library()
      throws IOException, ClassNotFoundException, URISyntaxException {
    Path jar =
        Path.of(PTransform.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    List<Class<?>> found = new ArrayList<>();
    try (JarFile file = new JarFile(jar.toFile())) {
      for (JarEntry entry : Collections.list(file.entries())) {
        String name = entry.getName();
        if (name.endsWith(".class")
            && PACKAGES.contains(name.substring(0, name.lastIndexOf('/') + 1))) {
          Class<?> type =
              Class.forName(
                  name.substring(0, name.length() - ".class".length()).replace('/', '.'),
                  false,
                  PTransform.class.getClassLoader());
          if (isPartOfAPipeline(type)) {
            found.add(type);
          }
        }
      }
    }
    return found;
  }

  private static boolean isPartOfAPipeline(Class<?> type) {
    boolean kind =
        PTransform.class.isAssignableFrom(type)
            || WindowFn.class.isAssignableFrom(type)
            || Trigger.class.isAssignableFrom(type)
            || CombineFnBase.GlobalCombineFn.class.isAssignableFrom(type);
    return kind && !Modifier.isAbstract(type.getModifiers()) && !type.isAnonymousClass();
  }

  private static Set<String> used() {
    Set<String> used = new TreeSet<>();
    ComparedPipelines.all()
        .forEach(
            (name, compared) -> {
              Pipeline pipeline = Pipeline.create();
              compared.build(pipeline, new Outcome(Path.of(name)));
              pipeline.traverseTopologically(new Users(used));
            });
    return used;
  }

  /** Notes what a pipeline is made of. */
  private static final class Users extends Pipeline.PipelineVisitor.Defaults {
    private final Set<String> used;

    Users(Set<String> used) {
      this.used = used;
    }

    @Override
    public CompositeBehavior enterCompositeTransform(Node node) {
      visit(node);
      return CompositeBehavior.ENTER_TRANSFORM;
    }

    @Override
    public void visitPrimitiveTransform(Node node) {
      visit(node);
    }

    private void visit(Node node) {
      PTransform<?, ?> transform = node.getTransform();
      if (transform == null) {
        return;
      }
      note(transform);
      if (transform instanceof Combine.PerKey<?, ?, ?> combine) {
        note(combine.getFn());
      } else if (transform instanceof Combine.Globally<?, ?> combine) {
        note(combine.getFn());
      } else if (transform instanceof Combine.GroupedValues<?, ?, ?> combine) {
        note(combine.getFn());
      }
    }

    @Override
    public void visitValue(PValue value, Node producer) {
      if (value instanceof PCollection<?> collection) {
        note(collection.getWindowingStrategy().getWindowFn());
        note(collection.getWindowingStrategy().getTrigger());
      }
    }

    private void note(Object part) {
      if (part.getClass().getName().startsWith("org.apache.beam.sdk.")) {
        used.add(nameOf(part.getClass()));
      }
      if (part instanceof Trigger trigger) {
        trigger.subTriggers().forEach(this::note);
      }
    }
  }
}
