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
const MOST_ACTIONS = 500; // in one response
const LEAVE = 10000; // milliseconds until a success is no longer shown

const notices = new Store([]);
let number = 0;

// Follow the actions of a change; one without an ID is already complete.
export function follow(title, ...ids) {
  number += 1;
  notices.set([...notices.value, {
    key: number, title, ids: ids.filter(Boolean),
  }].slice(-MOST));
}

export function Notices() {
  const shown = useStore(notices);
  return html`<aside class="notices" aria-label="Your changes"
    aria-live="polite">
    ${shown.map((notice) => html`<${Notice} key=${notice.key}
      notice=${notice} />`)}
  </aside>`;
}

// Return the status of a change, the numbers of its actions, or of those that
// its only action depends on, and a reason.
async function load(ids) {
  const {action} = await get(`v1/actions/${ids[0]}`);
  if (ids.length > 1) return loadAll(ids, action.action);
  const parts = action.depends_on;
  const {status, status_reason: reason} = action;
  if (!UNFINISHED.includes(status) || !parts.length) return {status, reason};
  const params = new URLSearchParams(
    UNFINISHED.map((value) => ['status', value]));
  if (action.cluster_id) params.set('cluster_id', action.cluster_id);
  const unfinished = await statusesOf(params);
  const done = parts.filter((id) => !unfinished.has(id)).length;
  return {status, done, total: parts.length};
}

// The same for several actions with the same name.
async function loadAll(ids, name) {
  const statuses = await statusesOf(new URLSearchParams({
    action: name, sort: 'created_at:desc', limit: MOST_ACTIONS,
  }));
  const all = ids.map((id) => statuses.get(id));
  const done = all.filter((status) => !UNFINISHED.includes(status)).length;
  const failed = all.filter(
    (status) => ['FAILED', 'CANCELLED'].includes(status)).length;
  return {
    status: done < ids.length ? 'RUNNING' : failed ? 'FAILED' : 'SUCCEEDED',
    done, total: ids.length, reason: failed ? `${failed} have failed.` : '',
  };
}

async function statusesOf(params) {
  const {actions} = await get(`v1/actions?${params}`);
  return new Map(actions.map(({id, status}) => [id, status]));
}

function Notice({notice}) {
  const [state, setState] = useState({});
  useEffect(() => {
    let timer = 0;
    let stopped = false;
    async function run() {
      let next = {};
      try {
        next = await load(notice.ids);
      } catch {
        // Keep what is shown; the page says that the API is gone.
      }
      if (stopped) return;
      if (next.status) setState(next);
      if (next.status && !UNFINISHED.includes(next.status)) refresh();
      else timer = setTimeout(run, EVERY);
    }
    if (notice.ids.length) run();
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  }, [notice.key]);

  const {done, total, reason} = state;
  const status = notice.ids.length ? state.status || 'READY' : 'SUCCEEDED';
  const dismiss = () => notices.set(
    notices.value.filter((other) => other.key !== notice.key));
  const succeeded = status === 'SUCCEEDED';
  // A failure stays until the user has dismissed it.
  useEffect(() => {
    const timer = succeeded && setTimeout(dismiss, LEAVE);
    return () => clearTimeout(timer);
  }, [succeeded]);
  return html`<div class="notice">
    <p><strong>${notice.title}</strong> <${Status} value=${status} /></p>
    ${done !== undefined && html`<p><${Progress} done=${done}
      total=${total} label="Actions that have ended" /></p>`}
    ${reason && html`<p class="note">${reason}</p>`}
    <p>${notice.ids.length > 0 && html`<a href=${notice.ids.length > 1
      ? '#/actions' : `#/actions/${notice.ids[0]}`}>Show ${
        notice.ids.length > 1 ? 'actions' : 'action'}</a> `}
      <button type="button" onClick=${dismiss}
        aria-label="Dismiss: ${notice.title}">Dismiss</button></p>
  </div>`;
}
