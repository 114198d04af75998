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
package org.apache.beam.runners.spark.structuredstreaming.engine.graph;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.apache.beam.runners.core.SideInputReader;
import org.apache.beam.runners.core.StateInternals;
import org.apache.beam.runners.core.StepContext;
import org.apache.beam.runners.core.TimerInternals;
import org.apache.beam.sdk.transforms.DoFn.BundleFinalizer;

/**
 * What a DoFn that lives across epochs reaches of the present one: the state and timers of the key
 * it is called for, and the side inputs. Its step's runner binds it anew in every epoch, and state and
 * timers for every key.
 */
public final class DoFnContext implements StepContext {
  private final String fullName;
  private final List<BundleCallback> callbacks = new ArrayList<>();
  private final BoundSideInputs sideInputs = new BoundSideInputs();
  private StateInternals state;
  private TimerInternals timers;

  DoFnContext(String fullName) {
    this.fullName = Objects.requireNonNull(fullName, "fullName");
  }

  /** Sets the state and timers that calls of the DoFn reach from now on. */
  public void bind(StateInternals keyState, TimerInternals keyTimers) {
    state = keyState;
    timers = keyTimers;
  }

  /** Sets the side inputs that calls of the DoFn read in this epoch. */
  public void bindSideInputs(SideInputReader reader) {
    sideInputs.bind(reader);
  }

  /** Reads what is bound. */
  SideInputReader sideInputs() {
    return sideInputs;
  }

  /** Lets go of what was bound. */
  void unbind() {
    sideInputs.unbind();
    state = null;
    timers = null;
  }

  boolean hasCallbacks() {
    return !callbacks.isEmpty();
  }

  /** Callbacks asked for since the last call. */
  List<BundleCallback> takeCallbacks() {
    if (callbacks.isEmpty()) {
      return List.of();
    }
    List<BundleCallback> taken = List.copyOf(callbacks);
    callbacks.clear();
    return taken;
  }

  /** Keeps what it is told for {@link #takeCallbacks}. */
  @Override
  public BundleFinalizer bundleFinalizer() {
    return (expiry, callback) ->
        callbacks.add(new BundleCallback(fullName, expiry.getMillis(), callback));
  }

  @Override
  public StateInternals stateInternals() {
    if (state == null) {
      throw new IllegalStateException(
          fullName + ": state is used where the DoFn is called for no key");
    }
    return state;
  }

  @Override
  public TimerInternals timerInternals() {
    if (timers == null) {
      throw new IllegalStateException(
          fullName + ": timers are used where the DoFn is called for no key");
    }
    return timers;
  }
}
