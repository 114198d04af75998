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
package org.apache.beam.runners.spark.structuredstreaming.validation;

import java.io.IOException;
import java.lang.reflect.Modifier;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.apache.beam.sdk.testing.ValidatesRunner;
import org.junit.Ignore;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.runner.Description;
import org.junit.runner.Request;
import org.junit.runner.manipulation.Filter;

/**
 * The tests of category {@link ValidatesRunner} in Beam's test jars, found as JUnit 4 itself finds
 * them: every public class with tests, inherited ones included.
 */
final class BeamSuites {
  private BeamSuites() {}

  /**
   * One test.
   *
   * @param className the binary name of its class
   * @param ignored whether Beam itself runs it nowhere
   */
  record SuiteTest(String className, String method, boolean ignored)
      implements Comparable<SuiteTest> {
    @Override
    public int compareTo(SuiteTest other) {
      return toString().compareTo(other.toString());
    }

    @Override
    public String toString() {
      return className + "#" + method;
    }
  }

  /**
   * All tests of the suites.
   *
   * @param inJarsOf a class of each jar to look into
   */
  static List<SuiteTest> all(Class<?>... inJarsOf) throws IOException {
    List<SuiteTest> tests = new ArrayList<>();
    for (Class<?> inJar : inJarsOf) {
      for (Class<?> testClass : testClasses(inJar)) {
        collect(request(testClass, null).getRunner().getDescription(), testClass, tests);
      }
    }
    Collections.sort(tests);
    return tests;
  }

  /**
   * What JUnit runs of a class.
   *
   * @param method the one test to run, null for all of the suite
   */
  static Request request(Class<?> testClass, String method) {
    return Request.aClass(testClass).filterWith(new OfSuite(testClass, method));
  }

  private static void collect(Description description, Class<?> testClass, List<SuiteTest> tests) {
    // A class without a test of the suite is described by JUnit as one that fails to start.
    if (description.isTest() && !"initializationError".equals(description.getMethodName())) {
      tests.add(
          new SuiteTest(
              testClass.getName(),
              description.getMethodName(),
              description.getAnnotation(Ignore.class) != null));
    }
    description.getChildren().forEach(child -> collect(child, testClass, tests));
  }

  private static List<Class<?>> testClasses(Class<?> inJar) throws IOException {
    List<Class<?>> classes = new ArrayList<>();
    try (JarFile jar = new JarFile(jarOf(inJar).toFile())) {
      for (JarEntry entry : Collections.list(jar.entries())) {
        String name = entry.getName();
        if (name.endsWith(".class") && name.contains("Test")) {
          Class<?> found = load(name.substring(0, name.length() - ".class".length()));
          if (hasTests(found)) {
            classes.add(found);
          }
        }
      }
    }
    return classes;
  }

  private static Path jarOf(Class<?> inJar) {
    try {
      return Path.of(inJar.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (URISyntaxException e) {
      throw new IllegalStateException("The jar of " + inJar + " is in no file", e);
    }
  }

  /** Null for a class that needs what is not on the class path: no runner can be tested with it. */
  private static Class<?> load(String path) {
    try {
      return Class.forName(path.replace('/', '.'), false, BeamSuites.class.getClassLoader());
    } catch (ClassNotFoundException | NoClassDefFoundError e) {
      return null;
    }
  }

  private static boolean hasTests(Class<?> found) {
    if (found == null || Modifier.isAbstract(found.getModifiers())) {
      return false;
    }
    try {
      for (var method : found.getMethods()) {
        if (method.isAnnotationPresent(Test.class)) {
          return true;
        }
      }
      return false;
    } catch (NoClassDefFoundError e) {
      return false;
    }
  }

  /** Keeps the tests of a class that are of the category, by themselves or by their class. */
  private static final class OfSuite extends Filter {
    private final Class<?> testClass;
    private final String method;

    OfSuite(Class<?> testClass, String method) {
      this.testClass = testClass;
      this.method = method;
    }

    @Override
    public boolean shouldRun(Description description) {
      if (description.isSuite()) {
        return description.getChildren().stream().anyMatch(this::shouldRun);
      }
      return (method == null || method.equals(description.getMethodName()))
          && (isOfCategory(description.getAnnotation(Category.class))
              || isOfCategory(testClass.getAnnotation(Category.class)));
    }

    private static boolean isOfCategory(Category category) {
      if (category != null) {
        for (Class<?> value : category.value()) {
          if (ValidatesRunner.class.isAssignableFrom(value)) {
            return true;
          }
        }
      }
      return false;
    }

    @Override
    public String describe() {
      return "ValidatesRunner";
    }
  }
}
