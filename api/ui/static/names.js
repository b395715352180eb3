// SPDX-License-Identifier: Apache-2.0
// Names of clusters and nodes by ID. Events have the names of resources that
// are deleted, too, and the API filters them by many IDs at once. Most nodes
// have no events, so the list of nodes has their names. Only events have the
// requests that started actions.

import {get, may} from './api.js';
import {Store} from './store.js';

const BATCH = 40; // IDs in one request
const LIMIT = 400; // events in one response
const NODES = 1000; // nodes in one response

// Kind -> policy rule of the list with its names.
const RULES = {clusters: 'events:index', nodes: 'nodes:index'};

const names = new Map(); // ID -> name; '': not known
const requests = new Map(); // ID of an action -> ID of its request
const wanted = new Map(); // ID -> kind
export const learned = new Store(0);
let timer = 0;

// Remember the names and the requests of resources that a list contained.
export function learn(resources) {
  const known = requests.size;
  for (const resource of resources) {
    if (resource.id && resource.name) names.set(resource.id, resource.name);
    const {action_id: action, request_id: id} = resource.meta_data || {};
    if (id) requests.set(action, id);
  }
  if (requests.size > known) learned.set(learned.value + 1);
}

// Return the ID of the request that started an action; undefined: not known.
export function requestOf(action) {
  return requests.get(action);
}

// Return the name of a resource; '' while it is not known. Only the names of
// clusters and nodes are looked up.
export function nameOf(kind, id) {
  if (!names.has(id) && may(RULES[kind])) {
    wanted.set(id, kind);
    timer ||= setTimeout(lookUp, 50);
  }
  return names.get(id) || '';
}

async function lookUp() {
  timer = 0;
  const ids = [...wanted.keys()].filter(
    (id) => wanted.get(id) === 'clusters').slice(0, BATCH);
  const isNode = !ids.length;
  if (isNode) ids.push(...wanted.keys());
  for (const id of ids) {
    wanted.delete(id);
    names.set(id, names.get(id) || '');
  }
  try {
    await (isNode ? nameNodes() : nameClusters(ids));
    learned.set(learned.value + 1);
  } catch {
    for (const id of ids) if (!names.get(id)) names.delete(id);
  }
  if (wanted.size) timer = setTimeout(lookUp, 50);
}

async function nameNodes() {
  const query = `sort=created_at:desc&limit=${NODES}`;
  learn((await get(`v1/nodes?${query}`)).nodes);
}

async function nameClusters(ids) {
  const query = new URLSearchParams(ids.map((id) => ['oid', id]));
  query.set('sort', 'timestamp:desc');
  query.set('limit', LIMIT);
  const {events} = await get(`v1/events?${query}`);
  for (const event of events.reverse()) {
    if (event.oname) names.set(event.oid, event.oname);
  }
}
