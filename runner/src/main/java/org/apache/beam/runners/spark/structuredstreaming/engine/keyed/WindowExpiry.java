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
package org.apache.beam.runners.spark.structuredstreaming.engine.keyed;

import java.util.ArrayList;
import java.util.List;
import org.apache.beam.runners.core.LateDataUtils;
import org.apache.beam.runners.core.StateNamespace;
import org.apache.beam.runners.core.StateNamespaces;
import org.apache.beam.runners.core.StateTag;
import org.apache.beam.runners.core.StateTags;
import org.apache.beam.runners.core.TimerInternals.TimerData;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.KeyState;
import org.apache.beam.runners.spark.structuredstreaming.engine.state.StepTimers;
import org.apache.beam.runners.spark.structuredstreaming.translation.DoFnSpec;
import org.apache.beam.sdk.coders.Coder;
import org.apache.beam.sdk.state.TimeDomain;
import org.apache.beam.sdk.transforms.reflect.DoFnSignature;
import org.apache.beam.sdk.transforms.reflect.DoFnSignatures;
import org.apache.beam.sdk.transforms.windowing.BoundedWindow;
import org.apache.beam.sdk.values.WindowingStrategy;
import org.joda.time.Duration;
import org.joda.time.Instant;

/**
 * When a window of a key expires for a stateful DoFn, and what goes with it: {@code expiry(w) = end
 * of w + allowed lateness + 1 ms}, a timer of the engine's own.
 */
final class WindowExpiry {
  /** No id of a DoFn's timer: those begin with a prefix of Beam's. */
  private static final String TIMER = "__windowExpiry";

  private static final String NO_FAMILY = "";

  /** The output time of a timer that holds no watermark. */
  private static final Instant NO_HOLD = BoundedWindow.TIMESTAMP_MAX_VALUE.plus(Duration.millis(1));

  private final WindowingStrategy<?, ?> windowing;
  private final Coder<BoundedWindow> windowCoder;
  private final StepTimers timers;
  private final List<StateTag<?>> states = new ArrayList<>();
  private final boolean observed;

  WindowExpiry(DoFnSpec spec, StepTimers timers) {
    this.windowing = spec.input().windowingStrategy();
    this.windowCoder = spec.input().windowCoder();
    this.timers = timers;
    DoFnSignature signature = DoFnSignatures.signatureForDoFn(spec.doFn());
    this.observed = signature.onWindowExpiration() != null;
    signature
        .stateDeclarations()
        .forEach(
            (id, declaration) ->
                states.add(
                    StateTags.tagForSpec(
                        id, DoFnSignatures.getStateSpecOrThrow(declaration, spec.doFn()))));
  }

  /** Whether the DoFn wants to be told. */
  boolean isObserved() {
    return observed;
  }

  /** Sees to it that the window will expire for the key. Called with every element. */
  void schedule(byte[] keyBytes, KeyState<Object> key, BoundedWindow window) {
    if (key.note(window)) {
      Instant gc = LateDataUtils.garbageCollectionTime(window, windowing.getAllowedLateness());
      timers.set(
          keyBytes,
          TimerData.of(
              TIMER,
              NO_FAMILY,
              namespace(window),
              gc.plus(Duration.millis(1)),
              observed ? window.maxTimestamp() : NO_HOLD,
              TimeDomain.EVENT_TIME));
    }
  }

  boolean isExpiry(TimerData timer) {
    return timer.getTimerId().equals(TIMER) && timer.getTimerFamilyId().equals(NO_FAMILY);
  }

  /** Forgets all that the DoFn knows of the key in the window. */
  void clear(byte[] keyBytes, KeyState<Object> key, BoundedWindow window) {
    StateNamespace namespace = namespace(window);
    for (StateTag<?> tag : states) {
      key.stateInternals().state(namespace, tag).clear();
    }
    timers.deleteAll(keyBytes, namespace);
    key.forget(window);
  }

  private StateNamespace namespace(BoundedWindow window) {
    return StateNamespaces.window(windowCoder, window);
  }
}
