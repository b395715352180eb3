// SPDX-License-Identifier: Apache-2.0
// Polls the API every two seconds and displays the results. All text is
// inserted as text, never as markup, because users choose the names.
'use strict';

const EVERY = 2000; // milliseconds between polls
const AT_MOST = 30000; // the same, at most, after failures
const PAGE = 100; // clusters shown before the user requests more
const ACTIONS = 30;
const NODES = 500;
const UNFINISHED = ['RUNNING', 'WAITING', 'READY', 'SUSPENDED',
  'WAITING_LIFECYCLE_COMPLETION'];
const WELL = ['ACTIVE', 'SUCCEEDED', 'up'];
const ILL = ['ERROR', 'CRITICAL', 'WARNING', 'FAILED', 'CANCELLED'];

const by = (id) => document.getElementById(id);
const seen = {limit: PAGE, token: sessionStorage.getItem('token') || ''};

class Refused extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

async function ask(path) {
  const headers = {
    'OpenStack-API-Version': 'clustering latest',
    'X-Requested-With': 'vobjects-ui',  // logged at DEBUG
  };
  if (seen.token) headers['X-Auth-Token'] = seen.token;
  const answer = await fetch(path, {headers, cache: 'no-store'});
  const content = await answer.json().catch(() => ({}));
  if (!answer.ok) {
    const error = (content.errors || [{}])[0];
    throw new Refused(answer.status, error.detail || answer.statusText);
  }
  seen.version = answer.headers.get('OpenStack-API-Version') || seen.version;
  return content;
}

// Elements

function make(tag, kind, text) {
  const made = document.createElement(tag);
  if (kind) made.className = kind;
  if (text !== undefined) made.textContent = text;
  return made;
}

function say(element, text) {
  // Only changes: a screen reader would read the same text again.
  if (element.textContent !== text) element.textContent = text;
}

function status(element, value) {
  const mood = WELL.includes(value) ? 'well'
    : ILL.includes(value) ? 'ill' : 'busy';
  element.className = `status ${mood}`;
  say(element, value);
}

// Keeps the element of each item, so that focus and open details persist.
function list(parent, items, build, fill) {
  const old = new Map([...parent.children].map((one) => [one.dataset.id, one]));
  let place = null;
  for (const item of items) {
    let element = old.get(item.id);
    if (element) old.delete(item.id);
    else {
      element = build(item);
      element.dataset.id = item.id;
    }
    fill(element, item);
    const next = place ? place.nextSibling : parent.firstChild;
    if (next !== element) parent.insertBefore(element, next);
    place = element;
  }
  for (const gone of old.values()) gone.remove();
}

function parts(element) {
  return Object.fromEntries(
    [...element.querySelectorAll('[data-part]')].map(
      (one) => [one.dataset.part, one]));
}

function part(tag, name, kind) {
  const made = make(tag, kind);
  made.dataset.part = name;
  return made;
}

function row(...pieces) {
  const made = make('span', 'row');
  made.append(...pieces);
  return made;
}

// A node, an action or a process
function buildLine() {
  const item = make('li');
  item.append(row(part('span', 'name', 'name'), part('span', 'status'),
    part('span', 'more', 'note')));
  return item;
}

// Clusters and their nodes

function buildCluster() {
  const item = make('li');
  const details = make('details');
  const summary = make('summary');
  summary.append(row(part('span', 'name', 'name'), part('span', 'status'),
    part('span', 'size', 'note')));
  const inside = make('div', 'inside');
  inside.append(part('p', 'reason', 'note'), part('ul', 'nodes', 'plain'),
    part('p', 'rest', 'note'));
  details.append(summary, inside);
  details.addEventListener('toggle', () => details.open && soon());
  item.append(details);
  return item;
}

function fillCluster(item, cluster) {
  const found = parts(item);
  say(found.name, cluster.name);
  status(found.status, cluster.status);
  const count = cluster.nodes.length;
  say(found.size, `${count} of ${cluster.desired_capacity} nodes, ` +
    `profile ${cluster.profile_name || cluster.profile_id}`);
  say(found.reason, `${cluster.status_reason || ''} (${cluster.id})`);
}

function fillNode(item, node) {
  const found = parts(item);
  say(found.name, node.name);
  status(found.status, node.status);
  const more = [`index ${node.index}`];
  if (node.role) more.push(`role ${node.role}`);
  if (node.tainted) more.push('tainted');
  if (node.status !== 'ACTIVE' && node.status_reason) {
    more.push(node.status_reason);
  }
  say(found.more, more.join(', '));
}

async function showClusters() {
  const found = (await ask(
    `v1/clusters?sort=name&limit=${seen.limit + 1}`)).clusters;
  by('more').hidden = found.length <= seen.limit;
  const wanted = by('filter').value.toLowerCase();
  const shown = found.slice(0, seen.limit).filter(
    (one) => one.name.toLowerCase().includes(wanted));
  list(by('clusters'), shown, buildCluster, fillCluster);
  by('no-clusters').hidden = shown.length > 0;
  for (const open of by('clusters').querySelectorAll('details[open]')) {
    const id = open.parentElement.dataset.id;
    const nodes = (await ask(
      `v1/nodes?cluster_id=${encodeURIComponent(id)}` +
      `&sort=index&limit=${NODES}`)).nodes;
    const pieces = parts(open);
    list(pieces.nodes, nodes, buildLine, fillNode);
    say(pieces.rest, nodes.length === NODES
      ? `These are the first ${NODES}.` : '');
  }
}

// Actions

function fillAction(item, action) {
  const found = parts(item);
  say(found.name, action.action);
  status(found.status, action.status);
  const reason = action.status_reason || '';
  say(found.more, `of ${action.target.slice(0, 8)}, ` +
    `${(action.created_at || '').replace('T', ' ')} ${reason}`);
}

async function showActions() {
  const newest = `v1/actions?sort=created_at:desc&limit=${ACTIONS}`;
  const unfinished = UNFINISHED.map((one) => `&status=${one}`).join('');
  // Unfinished actions first, then the newest.
  const found = new Map();
  for (const path of [newest + unfinished, newest]) {
    for (const one of (await ask(path)).actions) {
      if (!found.has(one.id)) found.set(one.id, one);
    }
  }
  list(by('actions'), [...found.values()].slice(0, ACTIONS), buildLine,
    fillAction);
  by('no-actions').hidden = found.size > 0;
}

// The fleet

function fillMember(item, member) {
  const found = parts(item);
  say(found.name, `${member.binary} ${member.id.slice(0, 8)}`);
  status(found.status, member.state);
  say(found.more, `release ${member.release} on ${member.host}, ` +
    `last seen ${member.age.toFixed(0)} s ago`);
}

async function showFleet() {
  let fleet;
  try {
    fleet = await ask('ui/fleet');
  } catch (error) {
    if (error.status !== 403) throw error;
    say(by('maximum'), 'Only administrators see the fleet.');
    list(by('limits'), [], null, null);
    list(by('members'), [], null, null);
    return;
  }
  const held = fleet.held ? ', held where it is' : '';
  say(by('maximum'),
    `Highest microversion: ${fleet.max_microversion}${held}`);
  list(by('limits'),
    fleet.limits.map((one) => ({id: one.type, ...one})),
    () => make('li'),
    (item, one) => say(item, `${one.microversion} is not served: ` +
      one.reason));
  list(by('members'), fleet.members, buildLine, fillMember);
}

// Polling

let timer = 0;
let wait = EVERY;
let looking = false;

async function look() {
  clearTimeout(timer);
  if (looking) return;
  looking = true;
  try {
    await showClusters();
    await showActions();
    await showFleet();
    wait = EVERY;
    by('sign-in').hidden = true;
    by('state').className = '';
    say(by('state'), 'Up to date');
    say(by('serves'), `API version ${seen.version.split(' ').pop()}`);
  } catch (error) {
    wait = Math.min(wait * 2, AT_MOST);
    by('state').className = 'wrong';
    if (error.status === 401) by('sign-in').hidden = false;
    say(by('state'), error.status
      ? `The API says ${error.status}: ${error.message}`
      : 'The API cannot be reached; trying again.');
  } finally {
    looking = false;
    if (!document.hidden) timer = setTimeout(look, wait);
  }
}

function soon() {
  clearTimeout(timer);
  timer = setTimeout(look, 50);
}

document.addEventListener('visibilitychange', soon);
by('filter').addEventListener('input', soon);
by('more').addEventListener('click', () => {
  seen.limit += PAGE;
  soon();
});
by('sign-in').addEventListener('submit', (event) => {
  event.preventDefault();
  seen.token = by('token').value;
  sessionStorage.setItem('token', seen.token);
  by('token').value = '';
  wait = EVERY;
  soon();
});
look();
