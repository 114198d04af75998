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
package org.apache.beam.runners.spark.structuredstreaming.testing;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.beam.sdk.coders.CustomCoder;
import org.apache.beam.sdk.coders.StringUtf8Coder;

/** Codes strings and counts, in this JVM, what is encoded and decoded under its name. */
public final class CountingCoder extends CustomCoder<String> {
  private static final Map<String, AtomicInteger> ENCODED = new ConcurrentHashMap<>();
  private static final Map<String, AtomicInteger> DECODED = new ConcurrentHashMap<>();

  private final String name;

  private CountingCoder(String name) {
    this.name = name;
  }

  /** A coder that counts under a name of its own. */
  public static CountingCoder named(String name) {
    return new CountingCoder(name);
  }

  /** How many values coders of this name have encoded. */
  public static int encoded(String name) {
    return counter(ENCODED, name).get();
  }

  /** How many values coders of this name have decoded. */
  public static int decoded(String name) {
    return counter(DECODED, name).get();
  }

  @Override
  public void encode(String value, OutputStream out) throws IOException {
    counter(ENCODED, name).incrementAndGet();
    StringUtf8Coder.of().encode(value, out);
  }

  @Override
  public String decode(InputStream in) throws IOException {
    counter(DECODED, name).incrementAndGet();
    return StringUtf8Coder.of().decode(in);
  }

  @Override
  public void verifyDeterministic() {}

  @Override
  public boolean equals(Object other) {
    return other instanceof CountingCoder coder && coder.name.equals(name);
  }

  @Override
  public int hashCode() {
    return name.hashCode();
  }

  private static AtomicInteger counter(Map<String, AtomicInteger> counters, String name) {
    return counters.computeIfAbsent(name, key -> new AtomicInteger());
  }
}
