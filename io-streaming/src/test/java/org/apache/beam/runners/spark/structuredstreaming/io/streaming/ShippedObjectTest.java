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
package org.apache.beam.runners.spark.structuredstreaming.io.streaming;

import static org.hamcrest.MatcherAssert.assertThat;
import static org.hamcrest.Matchers.allOf;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.instanceOf;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.not;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.io.InputStream;
import java.io.ObjectInputStream;
import java.io.Serializable;
import java.lang.reflect.Constructor;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.beam.sdk.util.SerializableUtils;
import org.junit.jupiter.api.Test;

/** A JVM that lacks a class of the pipeline says that it does, whatever Java makes of it, and only then. */
class ShippedObjectTest {
  /** What a plan is to the classes of the user: a list in a field. */
  private static final class Holder implements Serializable {
    @SuppressWarnings("serial") // lists that are serializable are what it is given
    private final List<Object> held;

    Holder(List<Object> held) {
      this.held = held;
    }
  }

  /** Its double under another name is known to the driver alone. */
  static final class Here implements Serializable {
    @Override
    public String toString() {
      return "here";
    }
  }

  /** Knows the double. */
  private static final class DriversClasses extends ClassLoader {
    DriversClasses() {
      super(ShippedObjectTest.class.getClassLoader());
    }

    Object makeGone() throws Exception {
      String name = Here.class.getName();
      byte[] bytes;
      try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
        String content = new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
        bytes = content.replace("Test$Here", "Test$Gone").getBytes(StandardCharsets.ISO_8859_1);
      }
      Class<?> gone = defineClass(name.replace("$Here", "$Gone"), bytes, 0, bytes.length);
      Constructor<?> constructor = gone.getDeclaredConstructor();
      constructor.setAccessible(true);
      return constructor.newInstance();
    }
  }

  @Test
  void whatIsThereIsRead() {
    byte[] bytes = SerializableUtils.serializeToByteArray(new Holder(List.of(new Here())));
    Holder read = (Holder) ShippedObject.decode(bytes, "The plan");
    assertThat(read.held.get(0).toString(), is("here"));
  }

  @Test
  void aClassThatIsMissingIsSaidToBe() throws Exception {
    Object gone = new DriversClasses().makeGone();
    for (Serializable shipped : List.of(new Holder(List.of(gone)), (Serializable) gone)) {
      byte[] bytes = SerializableUtils.serializeToByteArray(shipped);
      IllegalStateException failure =
          assertThrows(IllegalStateException.class, () -> ShippedObject.decode(bytes, "The plan"));
      assertThat(
          failure.getMessage(),
          allOf(
              containsString("The plan cannot be read"),
              containsString("A class of the pipeline may be missing"),
              containsString("--filesToStage"),
              containsString("spark.jars")));
    }
  }

  /** Reading it fails in the user's own code. */
  private static final class Failing implements Serializable {
    @SuppressWarnings("serial") // exceptions are serializable
    private final Throwable thrown;

    Failing(Throwable thrown) {
      this.thrown = thrown;
    }

    private void readObject(ObjectInputStream in) throws Throwable {
      in.defaultReadObject();
      throw thrown;
    }
  }

  @Test
  void whatTheUsersCodeThrowsIsTheCauseAndNoClassIsSaidToBeMissing() {
    for (Throwable thrown :
        List.of(
            new IllegalStateException("users"),
            new ClassCastException("users"),
            new IOException("users"),
            new ExceptionInInitializerError("users"))) {
      byte[] bytes = SerializableUtils.serializeToByteArray(new Holder(List.of(new Failing(thrown))));
      UnreadableObjectException failure =
          assertThrows(
              UnreadableObjectException.class, () -> ShippedObject.decode(bytes, "The plan"));
      assertThat(
          failure.getMessage(),
          allOf(
              containsString("The plan cannot be read"),
              containsString(thrown.toString()),
              containsString("failed when it was deserialized"),
              not(containsString("missing"))));
      assertThat(failure.getCause(), instanceOf(thrown.getClass()));
      assertThat(failure.getCause().getMessage(), is("users"));
    }
  }
}
