// SPDX-License-Identifier: Apache-2.0
// Polling: usePoll() loads data again and again while its component is shown
// and the tab is visible. After failures, it keeps the data and waits longer.

import {useEffect, useState} from './preact-htm.js';
import {Store} from './store.js';

const EVERY = 5000; // milliseconds between polls
const AT_MOST = 15000; // the same, at most, after failures
const SLOW = 4000; // milliseconds without an answer

// Whether the shown data is current: {failures: Map, at: Date of the latest
// successful poll}.
export const freshness = new Store({failures: new Map(), at: null});

const refreshes = new Store(0);

// Make all polls load now, for example after a change.
export function refresh() {
  refreshes.set(refreshes.value + 1);
}

// Return {data, error, at}. While the key changes, data is undefined. Null is
// nothing to show. Without an answer for a number of milliseconds, slow, all
// that is shown is marked as old.
export function usePoll(key, load, every = EVERY, slow = SLOW) {
  const [state, setState] = useState({});
  useEffect(() => {
    let timer = 0;
    let wait = every;
    let running = false;
    let again = false;
    let stopped = false;

    async function run() {
      clearTimeout(timer);
      if (running) {
        again = true;
        return;
      }
      running = true;
      const wasGone = freshness.value.failures.has(key);
      const late = setTimeout(() => !stopped && report(key, {
        isOutage: true, message: 'The API or its engines do not answer.',
      }), slow);
      let result;
      try {
        result = {data: await load()};
        wait = every;
      } catch (error) {
        if (!('status' in error)) throw error; // a bug, not an ApiError
        result = {error};
        wait = Math.min(wait * 2, AT_MOST);
      }
      clearTimeout(late);
      running = false;
      if (stopped) return;
      const isBack = !result.error && wasGone;
      report(key, result.error, result.data !== null);
      setState((old) => (result.error && old.key === key
        ? {...old, error: result.error}
        : {key, ...result, at: new Date()}));
      if (isBack) {
        refresh(); // The other polls need not wait any longer, either.
      } else if (again) {
        again = false;
        run();
      } else if (!document.hidden) {
        timer = setTimeout(run, wait);
      }
    }

    function onVisibility() {
      if (!document.hidden) run();
    }

    run();
    document.addEventListener('visibilitychange', onVisibility);
    const unsubscribe = refreshes.subscribe(() => {
      wait = every;
      run();
    });
    return () => {
      stopped = true;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', onVisibility);
      unsubscribe();
      report(key, undefined, false);
    };
  }, [key, every, slow]);
  return state.key === key ? state : {};
}

function report(key, error, isNew = true) {
  const failures = new Map(freshness.value.failures);
  failures.delete(key);
  if (error?.isOutage) failures.set(key, error);
  freshness.set({
    failures,
    at: isNew && !error ? new Date() : freshness.value.at,
  });
}
