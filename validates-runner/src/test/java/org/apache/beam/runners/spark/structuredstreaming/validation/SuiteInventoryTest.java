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

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.is;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.apache.beam.runners.core.metrics.MetricsPusherTest;
import org.apache.beam.runners.spark.structuredstreaming.validation.BeamSuites.SuiteTest;
import org.apache.beam.sdk.PipelineTest;
import org.junit.jupiter.api.Test;
import org.junit.runner.JUnitCore;
import org.junit.runner.Result;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/**
 * Comes behind an execution of Beam's suites and compares what that ran with what there is: every
 * test of the suites either ran and passed, or is ignored by Beam itself, or is named in {@code
 * must-fail.txt} with a reason, and fails.
 */
class SuiteInventoryTest {
  private static final Logger LOG = LoggerFactory.getLogger(SuiteInventoryTest.class);

  /** What the suites of this version of Beam consist of: another number means to look again. */
  private static final int TESTS = 413;

  /** The lists of what is left out, separated by commas. */
  private static final String LEFT_OUT = "suites.left-out";

  private static List<SuiteTest> suites() throws IOException {
    return BeamSuites.all(PipelineTest.class, MetricsPusherTest.class);
  }

  /** The tests that are left out, each with the reason. */
  private static Map<SuiteTest, String> leftOut() throws IOException {
    Map<SuiteTest, String> reasons = new TreeMap<>();
    for (String list : System.getProperty(LEFT_OUT).split(",", -1)) {
      for (String line : Files.readAllLines(Path.of(list))) {
        if (!line.isBlank() && !line.startsWith("#")) {
          String[] parts = line.split("[#:]", 3);
          assertThat(list + ": 'class#method: reason' in " + line, parts.length, is(3));
          reasons.put(new SuiteTest(parts[0].trim(), parts[1].trim(), false), parts[2].trim());
        }
      }
    }
    return reasons;
  }

  @Test
  void everyTestHasRunAndPassedOrIsLeftOutForAReason() throws IOException {
    Map<SuiteTest, String> leftOut = leftOut();
    List<SuiteTest> all = suites();
    assertThat(all.size(), is(TESTS));
    Set<SuiteTest> ignored =
        all.stream()
            .filter(SuiteTest::ignored)
            .collect(Collectors.toCollection(TreeSet::new));
    Set<SuiteTest> expected = difference(new TreeSet<>(all), ignored);
    assertThat("left out but not there", difference(leftOut.keySet(), expected), is(empty()));
    Map<SuiteTest, Boolean> ran = ran(Path.of("target/surefire-reports", execution()));
    ran.keySet().removeAll(ignored);
    Set<SuiteTest> passed =
        ran.entrySet().stream()
            .filter(Map.Entry::getValue)
            .map(Map.Entry::getKey)
            .collect(Collectors.toCollection(TreeSet::new));
    LOG.info(
        "Execution {}: of {} tests of Beam's suites {} ran and {} passed; Beam ignores {}; {} are left"
            + " out:{}",
        execution(),
        all.size(),
        ran.size(),
        passed.size(),
        ignored,
        leftOut.size(),
        leftOut.entrySet().stream()
            .map(each -> "\n  " + each.getKey() + ": " + each.getValue())
            .collect(Collectors.joining()));
    expected.removeAll(leftOut.keySet());
    assertThat("neither run nor left out", difference(expected, ran.keySet()), is(empty()));
    assertThat("not passed", difference(ran.keySet(), passed), is(empty()));
    assertThat(passed, equalTo(expected));
  }

  /** A test that has begun to pass is to be run. */
  @Test
  void whatIsLeftOutFails() throws IOException, ClassNotFoundException {
    List<SuiteTest> passing = new ArrayList<>();
    for (SuiteTest test : leftOut().keySet()) {
      Class<?> testClass = Class.forName(test.className());
      Result result = new JUnitCore().run(BeamSuites.request(testClass, test.method()));
      if (result.wasSuccessful()) {
        passing.add(test);
      }
    }
    assertThat("left out though they pass", passing, is(empty()));
  }

  private static String execution() {
    return System.getProperty("suites.execution");
  }

  private static Set<SuiteTest> difference(Set<SuiteTest> all, Set<SuiteTest> without) {
    Set<SuiteTest> rest = new TreeSet<>(all);
    rest.removeAll(without);
    return rest;
  }

  /** Every test of Surefire's reports, and whether it passed. */
  private static Map<SuiteTest, Boolean> ran(Path reports) throws IOException {
    Map<SuiteTest, Boolean> tests = new TreeMap<>();
    try (Stream<Path> files = Files.list(reports)) {
      files.filter(file -> file.toString().endsWith(".xml")).forEach(file -> read(file, tests));
    }
    return tests;
  }

  private static void read(Path report, Map<SuiteTest, Boolean> tests) {
    try {
      NodeList cases =
          DocumentBuilderFactory.newInstance()
              .newDocumentBuilder()
              .parse(report.toFile())
              .getElementsByTagName("testcase");
      for (int i = 0; i < cases.getLength(); i++) {
        Element test = (Element) cases.item(i);
        boolean passed =
            Stream.of("failure", "error", "skipped")
                .allMatch(outcome -> test.getElementsByTagName(outcome).getLength() == 0);
        tests.merge(
            new SuiteTest(test.getAttribute("classname"), test.getAttribute("name"), false),
            passed,
            Boolean::logicalAnd);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (ParserConfigurationException | SAXException e) {
      throw new IllegalStateException(report + " is no report of Surefire's", e);
    }
  }
}
