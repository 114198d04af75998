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

import java.util.List;
import org.apache.beam.sdk.values.WindowedValue;

/** Combines the receivers of one collection. */
final class Receivers {
  private static final ElementReceiver NOBODY = element -> {};

  private Receivers() {}

  /** One receiver for all of {@code receivers}, without indirection where there is just one. */
  static ElementReceiver all(List<ElementReceiver> receivers) {
    return switch (receivers.size()) {
      case 0 -> NOBODY;
      case 1 -> receivers.get(0);
      default -> new Several(receivers.toArray(new ElementReceiver[0]));
    };
  }

  private static final class Several implements ElementReceiver {
    private final ElementReceiver[] receivers;

    Several(ElementReceiver[] receivers) {
      this.receivers = receivers;
    }

    @Override
    public void accept(WindowedValue<Object> element) {
      for (ElementReceiver receiver : receivers) {
        receiver.accept(element);
      }
    }
  }
}
