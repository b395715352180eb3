// SPDX-License-Identifier: Apache-2.0
// Changes of several items of a table, after one confirmation.

import {html, useState} from './preact-htm.js';
import {may, request} from './api.js';
import {Dialog} from './dialog.js';
import {plural} from './elements.js';
import {follow} from './follow.js';
import {KINDS, nameOfItem} from './kinds.js';
import {OPERATIONS} from './operations.js';
import {refresh} from './poll.js';

const SHOWN_NAMES = 10;
const AT_ONCE = 4; // requests

// Buttons that change several items of a table after one confirmation.
export function BulkOperations({kind, items, select}) {
  const [open, setOpen] = useState(null);
  const {one, title} = KINDS[kind];
  const isFor = (operation) => items.filter(
    (item) => !operation.when || operation.when(item));
  const targets = open ? isFor(open) : [];
  const number = plural(targets.length, one, title.toLowerCase());

  async function submit(values) {
    const waiting = [...targets];
    const actions = [];
    const refused = new Map(); // item -> message
    async function sendSome() {
      for (let item = waiting.shift(); item; item = waiting.shift()) {
        try {
          const {action: id, data} = await request(...open.send(item, values));
          actions.push(data.action || id);
        } catch (error) {
          if (!('status' in error)) throw error; // a bug, not an ApiError
          refused.set(item, error.message);
        }
      }
    }
    await Promise.all(Array.from({length: AT_ONCE}, sendSome));
    if (actions.length) {
      follow(`${open.label}: ${plural(actions.length, one,
        title.toLowerCase())}`, ...actions);
    }
    // A second try is for those that were refused.
    select(new Set([...refused.keys()].map((item) => item.id)));
    refresh();
    if (refused.size) {
      throw new Error(`${refused.size} of ${targets.length} failed. ${
        [...refused].slice(0, SHOWN_NAMES).map(
          ([item, message]) => `${nameOfItem(kind, item)}: ${message}`).join(' ')}`);
    }
  }

  return html`<div class="buttons bulk" role="group"
    aria-label="Changes of the selection">
    <span role="status">${items.length} selected</span>
    ${bulkOperations(kind).map((operation) => isFor(operation).length > 0
      && html`<button type="button" key=${operation.id}
        class=${operation.danger ? 'danger' : ''}
        onClick=${() => setOpen(operation)}>${operation.label}…</button>`)}
    <button type="button" onClick=${() => select(new Set())}
      >Clear selection</button>
    ${open && html`<${Dialog} key=${open.id} title="${open.label}: ${number}"
      text="${targets.slice(0, SHOWN_NAMES).map(
        (item) => nameOfItem(kind, item)).join(', ')}${
        targets.length > SHOWN_NAMES
          ? ` and ${targets.length - SHOWN_NAMES} more` : ''}.${
        open.more?.(targets) || ''}"
      fields=${open.fields?.(targets[0]) || []}
      confirm="${open.label}: ${number}" danger=${open.danger}
      submit=${submit} close=${() => setOpen(null)} />`}
  </div>`;
}

// The operations on several items that the policy allows the caller.
export function bulkOperations(kind) {
  return (OPERATIONS[kind] || []).filter(
    (operation) => operation.many && may(operation.rule));
}
