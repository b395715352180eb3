// SPDX-License-Identifier: Apache-2.0
// Values that several components share, and the hook that reads them.

import {useEffect, useState} from './preact-htm.js';

export class Store {
  constructor(value) {
    this.value = value;
    this.listeners = new Set();
  }

  set(value) {
    this.value = value;
    for (const listener of [...this.listeners]) listener(value);
  }

  subscribe(listener) {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}

// Return the value of a store, and render again when it changes.
export function useStore(store) {
  const [, setVersion] = useState(0);
  useEffect(
    () => store.subscribe(() => setVersion((version) => version + 1)),
    [store],
  );
  return store.value;
}
