// SPDX-License-Identifier: Apache-2.0
// A row of numbers and small charts.

import {html} from './preact-htm.js';
import {get, may} from './api.js';
import {Shares, Sparkline} from './charts.js';
import {duration, moodOf, UNFINISHED, words} from './elements.js';
import {loadRates} from './metrics.js';
import {usePoll} from './poll.js';
import {href} from './route.js';

const EVERY = 10000; // milliseconds between polls
const MOST = 60; // values kept for charts
const RULES = ['clusters:index', 'nodes:index', 'actions:index'];

const ages = [];

let counted = {};

// Return the summary. An engine of an older release gives only a reason, and
// another engine may answer the next time: then the last numbers remain.
async function loadSummary() {
  const summary = await get('ui/summary');
  if (summary.reason) return {...counted, reason: summary.reason};
  ages.push(summary.queue_age || 0);
  ages.splice(0, ages.length - MOST);
  counted = summary;
  return summary;
}

const total = (counts) => Object.values(counts).reduce(
  (sum, count) => sum + count, 0);
const number = (value) => value.toLocaleString('en');

export function Summary() {
  const allowed = RULES.every(may);
  const {data} = usePoll(
    'ui/summary', () => (allowed ? loadSummary() : {}), EVERY);
  const {data: metrics} = usePoll('metrics', loadRates, EVERY);
  return html`${data?.reason && html`<p id="uncounted" class="note"
    >${data.reason}${data.clusters ? ' The numbers are older.' : ''}</p>`}
  <section class="cards" aria-label="Numbers">
    ${allowed && ['clusters', 'nodes', 'actions'].map((kind) => html`<${Counts}
      key=${kind} kind=${kind} counts=${data?.[kind]} />`)}
    ${allowed && html`<${Card} title="Queue age"
      value=${data?.queue_age === undefined ? '…'
        : data.queue_age === null ? 'empty'
        : duration(data.queue_age)}>
      <${Sparkline} values=${ages} label="Age of the oldest action that waits
        for an engine, since this page was opened" />
      <p class="note">oldest action that waits for an engine</p>
    <//>`}
    <${Rates} metrics=${metrics} />
  </section>`;
}

function Card({title, value, children}) {
  return html`<div class="card"><h2>${title}</h2>
    <p class="number">${value}</p>${children}</div>`;
}

// Order of the statuses: the order of their moods.
const MOODS = ['bad', 'warning', 'busy', 'plain', 'good'];

function Counts({kind, counts}) {
  if (!counts) return html`<${Card} title=${words(kind)} value="…" />`;
  const parts = Object.entries(counts).map(
    ([name, value]) => ({name, value, mood: moodOf(name)}));
  parts.sort((a, b) => MOODS.indexOf(a.mood) - MOODS.indexOf(b.mood)
    || b.value - a.value);
  const isActions = kind === 'actions';
  const shown = isActions ? parts.filter(
    ({name}) => UNFINISHED.includes(name)) : parts;
  const label = parts.map(
    ({name, value}) => `${value} ${words(name)}`).join(', ');
  return html`<${Card} title=${isActions ? 'Unfinished actions'
    : kind[0].toUpperCase() + kind.slice(1)}
    value=${number(total(Object.fromEntries(
      shown.map(({name, value}) => [name, value]))))}>
    <${Shares} parts=${parts} label="${isActions
      ? 'Unfinished actions, and those of the last hour'
      : 'By status'}: ${label}" />
    <ul class="legend">${parts.map(({name, value, mood}) => html`<li
      key=${name}><a class=${mood} href=${href([kind], {status: name})}
      >${number(value)} ${words(name)}</a></li>`)}</ul>
    ${isActions && html`<p class="note">ended ones: of the last hour</p>`}
  <//>`;
}

function Rates({metrics}) {
  if (!metrics) return html`<${Card} title="Requests per second" value="…" />`;
  if (metrics.refusal) {
    return html`<${Card} title="Requests per second" value="–">
      <p class="note">${metrics.refusal}</p><//>`;
  }
  const {rates} = metrics;
  const now = rates.at(-1);
  if (!now) {
    return html`<${Card} title="Requests per second" value="…">
      <p class="note">needs a second reading</p><//>`;
  }
  const label = 'since this page was opened';
  return html`<${Card} title="Requests per second"
      value=${now.requests.toFixed(1)}>
      <${Sparkline} values=${rates.map((rate) => rate.requests)}
        label="Requests per second ${label}" />
      <p class="note">${now.failures > 0
        ? html`<span class="bad">${now.failures.toFixed(1)} server errors</span>`
        : 'no server errors'}</p>
    <//>
    <${Card} title="Mean response time"
      value="${(now.latency * 1000).toFixed(1)} ms">
      <${Sparkline} values=${rates.map((rate) => rate.latency)}
        label="Mean response time ${label}" />
      <p class="note">all requests to this API</p>
    <//>`;
}
