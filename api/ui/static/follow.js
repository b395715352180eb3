// SPDX-License-Identifier: Apache-2.0
// Notices at the edge of the page that follow the actions of the user's
// changes until they end.

import {html, useEffect, useState} from './preact-htm.js';
import {get} from './api.js';
import {Progress, Status, UNFINISHED} from './elements.js';
import {refresh} from './poll.js';
import {Store, useStore} from './store.js';

const EVERY = 1000; // milliseconds between polls
const MOST = 4; // notices shown

const notices = new Store([]);
let number = 0;

// Follow an action; without an ID, the change is already complete.
export function follow(title, id) {
  number += 1;
  notices.set([...notices.value, {key: number, title, id}].slice(-MOST));
}

export function Notices() {
  const shown = useStore(notices);
  return html`<aside class="notices" aria-label="Your changes"
    aria-live="polite">
    ${shown.map((notice) => html`<${Notice} key=${notice.key}
      notice=${notice} />`)}
  </aside>`;
}

async function load(id) {
  const {action} = await get(`v1/actions/${id}`);
  if (!UNFINISHED.includes(action.status) || !action.depends_on.length) {
    return {action};
  }
  const params = new URLSearchParams(
    UNFINISHED.map((status) => ['status', status]));
  if (action.cluster_id) params.set('cluster_id', action.cluster_id);
  const {actions} = await get(`v1/actions?${params}`);
  const unfinished = new Set(actions.map((other) => other.id));
  const done = action.depends_on.filter((other) => !unfinished.has(other));
  return {action, done: done.length};
}

function Notice({notice}) {
  const [state, setState] = useState({});
  useEffect(() => {
    let timer = 0;
    let stopped = false;
    async function run() {
      let next = {};
      try {
        next = await load(notice.id);
      } catch {
        // Keep what is shown; the page says that the API is gone.
      }
      if (stopped) return;
      if (next.action) setState(next);
      if (next.action && !UNFINISHED.includes(next.action.status)) refresh();
      else timer = setTimeout(run, EVERY);
    }
    if (notice.id) run();
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  }, [notice.id]);

  const {action, done} = state;
  const dismiss = () => notices.set(
    notices.value.filter((other) => other.key !== notice.key));
  return html`<div class="notice">
    <p><strong>${notice.title}</strong>
      ${!notice.id && html` <${Status} value="SUCCEEDED" />`}
      ${notice.id && html` <${Status}
        value=${action?.status || 'READY'} />`}</p>
    ${done !== undefined && html`<p><${Progress} done=${done}
      total=${action.depends_on.length} label="Actions that have ended"
      /></p>`}
    ${action?.status_reason && html`<p class="note">${
      action.status_reason}</p>`}
    <p>${notice.id && html`<a href="#/actions/${notice.id}">Show action</a> `}
      <button type="button" onClick=${dismiss}
        aria-label="Dismiss: ${notice.title}">Dismiss</button></p>
  </div>`;
}
