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
import static org.hamcrest.Matchers.arrayWithSize;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.instanceOf;
import static org.hamcrest.Matchers.is;
import static org.hamcrest.Matchers.not;
import static org.hamcrest.Matchers.nullValue;
import static org.hamcrest.Matchers.sameInstance;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.io.IOException;
import java.time.Duration;
import org.apache.beam.sdk.util.SerializableUtils;
import org.junit.jupiter.api.Test;

/** Whatever hangs together with an exception, what is sent in its place has an end and can be sent. */
class FailureTransportTest {
  private static final int ALLOWED = 100;

  private static Throwable chain(int length) {
    Throwable chain = null;
    for (int number = 1; number <= length; number++) {
      chain = new IllegalStateException("number " + number, chain);
    }
    return chain;
  }

  private static int causes(Throwable failure) {
    int length = 0;
    for (Throwable next = failure; next != null; next = next.getCause()) {
      length++;
    }
    return length;
  }

  private static Throwable last(Throwable failure) {
    Throwable last = failure;
    while (last.getCause() != null) {
      last = last.getCause();
    }
    return last;
  }

  private static Throwable sent(Throwable failure) {
    Throwable sent =
        assertTimeoutPreemptively(
            Duration.ofMinutes(1), () -> FailureTransport.toDriver(failure), "toDriver");
    SerializableUtils.ensureSerializable(sent);
    return sent;
  }

  @Test
  void whatIsDeepButNotTooDeepIsSentItself() {
    Throwable chain = chain(ALLOWED);
    assertThat(sent(chain), sameInstance(chain));
  }

  @Test
  void aLongerChainIsCut() {
    for (int length : new int[] {ALLOWED + 1, 100_000}) {
      Throwable sent = sent(chain(length));
      assertThat(causes(sent), is(ALLOWED));
      assertThat(sent.getMessage(), is("java.lang.IllegalStateException: number " + length));
      assertThat(
          last(sent).getMessage(),
          containsString("number " + (length - ALLOWED + 1) + " (its causes"));
      assertThat(
          sent.getSuppressed()[0].getMessage(), containsString("IllegalStateException, whose causes"));
    }
  }

  @Test
  void aChainMadeOfSharedPartsIsMeasuredAsAWhole() {
    Throwable shared = chain(ALLOWED - 10);
    Throwable root = new IllegalStateException("root", shared);
    Throwable longer = shared;
    for (int number = 0; number < 20; number++) {
      longer = new IllegalStateException("longer " + number, longer);
    }
    root.addSuppressed(longer);
    assertThat(sent(root), not(sameInstance(root)));
  }

  @Test
  void anExceptionThatIsReachedTwiceIsNoCycle() {
    Exception cause = new IOException("both's");
    Exception failure = new IllegalStateException("first", cause);
    failure.addSuppressed(new IllegalArgumentException("second", cause));
    assertThat(sent(failure), sameInstance(failure));
  }

  @Test
  void aCycleOfCausesIsCutWhereItCloses() {
    IOException second = new IOException("second");
    IllegalStateException first = new IllegalStateException("first", second);
    second.initCause(first);
    Throwable sent = sent(first);
    assertThat(sent.getMessage(), is("java.lang.IllegalStateException: first"));
    assertThat(sent.getStackTrace(), is(first.getStackTrace()));
    assertThat(sent.getCause().getMessage(), is("java.io.IOException: second"));
    assertThat(
        sent.getCause().getCause().getMessage(),
        is("java.lang.IllegalStateException: first (the same as before; cut here)"));
    assertThat(sent.getCause().getCause().getCause(), nullValue());
  }

  @Test
  void aCycleThroughSuppressedExceptionsIsCutWhereItCloses() {
    IllegalStateException first = new IllegalStateException("first");
    IOException second = new IOException("second", first);
    first.addSuppressed(second);
    Throwable sent = sent(first);
    assertThat(sent.getSuppressed(), arrayWithSize(2));
    assertThat(sent.getSuppressed()[0].getMessage(), is("java.io.IOException: second"));
    assertThat(
        sent.getSuppressed()[0].getCause().getMessage(), containsString("first (the same as before"));
  }

  /** Its text is all that is known of it. */
  private static final class EndlessException extends RuntimeException {
    EndlessException() {
      super("endless");
    }

    @Override
    public synchronized Throwable getCause() {
      return new EndlessException();
    }
  }

  @Test
  void aCauseThatIsMadeAnewWheneverItIsAskedForIsCut() {
    assertThat(causes(sent(new EndlessException())), is(ALLOWED));
  }

  /** Spark ends the JVM for it, however deep it is where its settings say so. */
  @Test
  void aStackOverflowDeepBelowIsHiddenFromSpark() {
    Throwable failure = new StackOverflowError("deep");
    for (int number = 0; number < 50; number++) {
      failure = new IllegalStateException("number " + number, failure);
    }
    Throwable sent = sent(failure);
    assertThat(causes(sent), is(1));
    assertThat(last(FailureTransport.original(sent)), instanceOf(StackOverflowError.class));
  }

  @Test
  void whatJoinsAFailureCanTravelWithIt() {
    IllegalStateException failure = new IllegalStateException("first");
    FailureTransport.join(failure, failure);
    FailureTransport.join(failure, new IOException("of the first", failure));
    FailureTransport.join(failure, new IOException("other"));
    assertThat(failure.getSuppressed(), arrayWithSize(3));
    assertThat(failure.getSuppressed()[0].getMessage(), containsString("first"));
    assertThat(failure.getSuppressed()[1].getMessage(), containsString("of the first"));
    assertThat(failure.getSuppressed()[2], instanceOf(IOException.class));
    assertThat(sent(failure), sameInstance(failure));
  }
}
