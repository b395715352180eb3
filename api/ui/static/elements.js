// SPDX-License-Identifier: Apache-2.0
// Small components: times, statuses, links to resources, JSON.

import {createContext, html, useContext} from './preact-htm.js';
import {session} from './api.js';
import {href} from './route.js';
import {nameOf} from './names.js';

// Whether the data shown is out of date, because the API is gone.
export const Stale = createContext(false);

const MOODS = {
  ACTIVE: 'good', SUCCEEDED: 'good', up: 'good', end: 'good',
  possible: 'good', impossible: 'bad',
  ERROR: 'bad', CRITICAL: 'bad', FAILED: 'bad', error: 'bad', down: 'bad',
  WARNING: 'warning', WARN: 'warning', CANCELLED: 'warning',
  SUSPENDED: 'warning',
  INFO: 'plain', DEBUG: 'plain', INIT: 'plain',
};
const ICONS = {good: '✓', bad: '✕', warning: '!', busy: '…', plain: '·'};

export function moodOf(status) {
  return MOODS[status] || 'busy';
}

export const UNFINISHED = ['INIT', 'WAITING', 'READY', 'RUNNING', 'SUSPENDED',
  'WAITING_LIFECYCLE_COMPLETION'];

export function Status({value}) {
  const stale = useContext(Stale);
  if (!value) return '–';
  const mood = stale ? 'plain' : moodOf(value);
  return html`<span class="status ${mood}">
    <span class="icon" aria-hidden="true">${stale ? '?' : ICONS[mood]}</span>
    ${stale ? `was ${words(value)}` : words(value)}</span>`;
}

export function words(value) {
  return String(value).replaceAll('_', ' ');
}

export function plural(count, one, many = `${one}s`) {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

// Return a Date from the API's text (UTC) or seconds since the epoch.
function dateOf(value) {
  if (typeof value === 'number') return new Date(value * 1000);
  return new Date(/Z|[+-]\d\d:?\d\d$/.test(value) ? value : `${value}Z`);
}

const pad = (number) => String(number).padStart(2, '0');

export function clock(date) {
  return [date.getHours(), date.getMinutes(), date.getSeconds()]
    .map(pad).join(':');
}

export function Time({value}) {
  if (!value) return '–';
  const date = dateOf(value);
  const day = [date.getFullYear(), date.getMonth() + 1, date.getDate()]
    .map(pad).join('-');
  const today = date.toDateString() === new Date().toDateString();
  return html`<time datetime=${date.toISOString()} title="${day} ${clock(date)}"
    >${today ? clock(date) : `${day} ${clock(date)}`}</time>`;
}

export function duration(seconds) {
  if (seconds < 0) return '0 s';
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172800
    ? `${Math.round(seconds / 3600)} h`
    : `${Math.round(seconds / 86400)} d`;
}

export function shortId(id) {
  return id.slice(0, 8);
}

// A link to a resource by name; its ID until the name is known.
export function ResourceLink({kind, id, name}) {
  if (!id) return '–';
  const known = name || nameOf(kind, id);
  return html`<a href=${href([kind, id])} title=${id}
    >${known || shortId(id)}</a>`;
}

// The ID of a request, and a link to its trace if [api] trace_url is set.
export function RequestId({id}) {
  if (!id) return '–';
  const url = session.value?.trace_url?.replaceAll('{request_id}', id);
  return html`<code>${id}</code>${url && html` <a href=${url} target="_blank"
    rel="noreferrer">Trace</a>`}`;
}

export function Json({value}) {
  if (!value || !Object.keys(value).length) return '–';
  return html`<pre tabindex="0">${JSON.stringify(value, null, 2)}</pre>`;
}

// A bar of done parts; the text says the same.
export function Progress({done, total, label}) {
  return html`<span class="progress">
    <progress max=${total} value=${done} aria-label=${label}></progress>
    <span>${done} of ${total}</span>
  </span>`;
}
