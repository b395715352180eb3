// SPDX-License-Identifier: Apache-2.0
// The kinds of resources: columns and filters of their tables, facts and
// related tables of their pages. The other modules walk these tables.

import {html} from './preact-htm.js';
import {
  duration, Json, Progress, RequestId, ResourceLink, Status, Time, UNFINISHED,
  words,
} from './elements.js';
import {requestOf} from './names.js';

const CLUSTER_STATUSES = ['ACTIVE', 'CREATING', 'UPDATING', 'RESIZING',
  'DELETING', 'CHECKING', 'RECOVERING', 'OPERATING', 'WARNING', 'CRITICAL',
  'ERROR', 'INIT'];
const NODE_STATUSES = ['ACTIVE', 'CREATING', 'UPDATING', 'DELETING',
  'RECOVERING', 'OPERATING', 'WARNING', 'ERROR', 'INIT'];
const ACTION_STATUSES = [...UNFINISHED, 'SUCCEEDED', 'FAILED', 'CANCELLED'];
const CLUSTER_ACTIONS = ['CREATE', 'DELETE', 'UPDATE', 'ADD_NODES',
  'DEL_NODES', 'RESIZE', 'CHECK', 'RECOVER', 'REPLACE_NODES', 'SCALE_OUT',
  'SCALE_IN', 'ATTACH_POLICY', 'DETACH_POLICY', 'UPDATE_POLICY', 'OPERATION',
].map((name) => `CLUSTER_${name}`);
const NODE_ACTIONS = ['CREATE', 'DELETE', 'UPDATE', 'JOIN', 'LEAVE', 'CHECK',
  'RECOVER', 'OPERATION'].map((name) => `NODE_${name}`);
const ACTIONS = [...CLUSTER_ACTIONS, ...NODE_ACTIONS];

const NAME = {name: 'name', label: 'Name', isPart: true};

const link = (kind) => (item) => html`<${ResourceLink} kind=${kind}
  id=${item.id} name=${item.name} />`;
const time = (field) => (item) => html`<${Time} value=${item[field]} />`;
const status = (item) => html`<${Status} value=${item.status} />`;
const text = (field) => (item) => item[field] || '–';
const cluster = (item) => html`<${ResourceLink} kind="clusters"
  id=${item.cluster_id} name=${item.cluster?.name} />`;
const profile = (item) => html`<${ResourceLink} kind="profiles"
  id=${item.profile_id} name=${item.profile_name} />`;

// Items of a related table whose field has the ID of the page's resource.
const of = (field, query = {}) => ({
  field, query: (item) => ({[field]: item.id, ...query}),
});

const CREATED = {title: 'Created', sort: 'created_at', cell: time('created_at')};
const UPDATED = {title: 'Updated', sort: 'updated_at', cell: time('updated_at')};

export function nodeCount(item) {
  return `${item.nodes.length} of ${item.desired_capacity}`;
}

function limits(item) {
  return `${item.min_size} to ${item.max_size < 0 ? 'any' : item.max_size}`;
}

export function nameOfItem(kind, item) {
  if (kind === 'actions') return words(item.action);
  if (kind === 'events') return `${words(item.action)} ${item.status}`;
  return item.name;
}

export function targetKind(action) {
  return action.action.startsWith('NODE_') ? 'nodes' : 'clusters';
}

function target(action) {
  return html`<${ResourceLink} kind=${targetKind(action)}
    id=${action.target} />`;
}

export function actionDuration(action) {
  if (!action.start_time) return '–';
  return duration((action.end_time || Date.now() / 1000) - action.start_time);
}

// context.unfinished: IDs of unfinished actions, if known.
function actionStatus(action, {unfinished} = {}) {
  const total = action.depends_on.length;
  if (!total || !UNFINISHED.includes(action.status) || !unfinished) {
    return status(action);
  }
  const done = action.depends_on.filter((id) => !unfinished.has(id)).length;
  return html`${status(action)} <${Progress} done=${done} total=${total}
    label="Dependencies of ${words(action.action)} that have ended" />`;
}

function actionLink(action) {
  return html`<${ResourceLink} kind="actions" id=${action.id}
    name=${words(action.action)} />`;
}

function eventObject(event) {
  return html`<${ResourceLink}
    kind=${event.otype === 'NODE' ? 'nodes' : 'clusters'}
    id=${event.oid} name=${event.oname} />`;
}

function eventAction(event) {
  return html`<${ResourceLink} kind="actions" id=${event.meta_data?.action_id}
    name=${words(event.action)} />`;
}

// A kind whose resources have a type and a spec.
function specKind(title, one, kind) {
  return {
    title, one, key: one,
    rule: `${kind}:index`, sort: 'name',
    columns: [
      {title: 'Name', sort: 'name', cell: link(kind)},
      {title: 'Type', sort: 'type', cell: text('type')},
      CREATED, UPDATED,
    ],
    filters: [NAME, {name: 'type', label: 'Type'}],
    facts: [
      ['Type', text('type')],
      ['Created', time('created_at')],
      ['Updated', time('updated_at')],
      ['Spec', (item) => html`<${Json} value=${item.spec} />`],
    ],
    related: [],
  };
}

// Kind -> path and keys of the API, texts, columns, filters, facts, related.
// Related: [kind, {field: without its column, query, keep: of those found}].
export const KINDS = {
  clusters: {
    title: 'Clusters', one: 'cluster', key: 'cluster',
    rule: 'clusters:index', sort: 'name',
    columns: [
      {title: 'Name', sort: 'name', cell: link('clusters')},
      {title: 'Status', sort: 'status', cell: status},
      {title: 'Nodes', cell: nodeCount},
      {title: 'Limits', cell: limits},
      {title: 'Profile', cell: profile},
      {title: 'Policies', cell: (item) => item.policies.length || '–'},
      CREATED, UPDATED,
    ],
    filters: [NAME,
      {name: 'status', label: 'Status', options: CLUSTER_STATUSES}],
    facts: [
      ['Status', status],
      ['Reason', text('status_reason')],
      ['Nodes', nodeCount],
      ['Limits', limits],
      ['Profile', profile],
      ['Timeout', (item) => `${item.timeout} s`],
      ['Created', time('created_at')],
      ['Updated', time('updated_at')],
      ['Metadata', (item) => html`<${Json} value=${item.metadata} />`],
    ],
    related: [
      ['nodes', of('cluster_id', {sort: 'index'})],
      ['actions', of('cluster_id', {sort: 'created_at:desc'})],
      ['receivers', of('cluster_id')],
      ['events', of('cluster_id', {sort: 'timestamp:desc'})],
    ],
  },
  nodes: {
    title: 'Nodes', one: 'node', key: 'node',
    rule: 'nodes:index', sort: 'name',
    columns: [
      {title: 'Name', sort: 'name', cell: link('nodes')},
      {title: 'Status', sort: 'status', cell: status},
      {title: 'Cluster', field: 'cluster_id', cell: cluster},
      {title: 'Index', sort: 'index', cell: (item) => item.index},
      {title: 'Role', cell: text('role')},
      {title: 'Profile', cell: profile},
      CREATED, UPDATED,
    ],
    filters: [NAME,
      {name: 'status', label: 'Status', options: NODE_STATUSES},
      {name: 'cluster_id', label: 'Cluster', resource: 'clusters'}],
    facts: [
      ['Status', status],
      ['Reason', text('status_reason')],
      ['Cluster', cluster],
      ['Index', (item) => item.index],
      ['Role', text('role')],
      ['Tainted', (item) => (item.tainted ? 'yes' : 'no')],
      ['Profile', profile],
      ['Server', text('physical_id')],
      ['Created', time('created_at')],
      ['Updated', time('updated_at')],
      ['Metadata', (item) => html`<${Json} value=${item.metadata} />`],
    ],
    related: [
      ['actions', of('target', {sort: 'created_at:desc'})],
      ['events', of('oid', {sort: 'timestamp:desc'})],
    ],
  },
  actions: {
    title: 'Actions', one: 'action', key: 'action',
    rule: 'actions:index', sort: 'created_at:desc',
    columns: [
      {title: 'Action', sort: 'action', cell: actionLink},
      {title: 'Status', sort: 'status', cell: actionStatus},
      {title: 'Target', field: 'target', sort: 'target', cell: target},
      {title: 'Cluster', field: 'cluster_id', cell: cluster},
      CREATED,
      {title: 'Duration', cell: actionDuration},
      {title: 'Reason', cell: text('status_reason'), wide: true},
    ],
    filters: [
      {name: 'status', label: 'Status', options: ACTION_STATUSES},
      {name: 'action', label: 'Action', options: ACTIONS},
      {name: 'cluster_id', label: 'Cluster', resource: 'clusters'},
      {name: 'target', label: 'Target', resource: 'any'}],
    facts: [
      ['Status', status],
      ['Reason', text('status_reason')],
      ['Target', target],
      ['Cluster', cluster],
      ['Cause', text('cause')],
      ['Request', (item) => html`<${RequestId} id=${requestOf(item.id)} />`],
      ['Engine', (item) => (item.owner
        ? html`<a href="#/">${item.owner.slice(0, 8)}</a>` : '–')],
      ['Created', time('created_at')],
      ['Started', time('start_time')],
      ['Ended', time('end_time')],
      ['Duration', actionDuration],
      ['Timeout', (item) => `${item.timeout} s`],
      ['Inputs', (item) => html`<${Json} value=${item.inputs} />`],
      ['Outputs', (item) => html`<${Json} value=${item.outputs} />`],
    ],
    // The API cannot find the events of one action.
    related: [['events', {
      field: 'oid',
      query: (action) => ({oid: action.target, action: action.action,
        sort: 'timestamp:desc'}),
      keep: (event, action) => event.meta_data?.action_id === action.id,
    }]],
  },
  profiles: specKind('Profiles', 'profile', 'profiles'),
  policies: specKind('Policies', 'policy', 'policies'),
  receivers: {
    title: 'Receivers', one: 'receiver', key: 'receiver',
    rule: 'receivers:index', sort: 'name',
    columns: [
      {title: 'Name', sort: 'name', cell: link('receivers')},
      {title: 'Type', sort: 'type', cell: text('type')},
      {title: 'Cluster', field: 'cluster_id', cell: cluster},
      {title: 'Action', sort: 'action',
        cell: (item) => (item.action ? words(item.action) : '–')},
      CREATED,
    ],
    filters: [NAME,
      {name: 'type', label: 'Type', options: ['webhook', 'message']},
      {name: 'action', label: 'Action', options: CLUSTER_ACTIONS},
      {name: 'cluster_id', label: 'Cluster', resource: 'clusters'}],
    facts: [
      ['Type', text('type')],
      ['Cluster', cluster],
      ['Action', (item) => (item.action ? words(item.action) : '–')],
      ['Created', time('created_at')],
      ['Parameters', (item) => html`<${Json} value=${item.params} />`],
      ['Channel', (item) => html`<${Json} value=${item.channel} />`],
    ],
    related: [],
  },
  events: {
    title: 'Events', one: 'event', key: 'event',
    rule: 'events:index', sort: 'timestamp:desc',
    columns: [
      {title: 'Time', sort: 'timestamp', cell: (event) => html`<a
        href="#/events/${event.id}"><${Time} value=${event.timestamp} /></a>`},
      {title: 'Level', sort: 'level',
        cell: (event) => html`<${Status} value=${event.level} />`},
      {title: 'Object', field: 'oid', sort: 'oname', cell: eventObject},
      {title: 'Cluster', field: 'cluster_id', sort: 'cluster_id',
        cell: cluster},
      {title: 'Action', sort: 'action', cell: eventAction},
      {title: 'Status', sort: 'status', cell: (event) => event.status},
      {title: 'Reason', cell: text('status_reason'), wide: true},
    ],
    filters: [
      {name: 'level', label: 'Level',
        options: ['CRITICAL', 'ERROR', 'WARN', 'INFO', 'DEBUG']},
      {name: 'otype', label: 'Object', options: ['CLUSTER', 'NODE']},
      {name: 'action', label: 'Action', options: ACTIONS},
      {name: 'cluster_id', label: 'Cluster', resource: 'clusters'},
      {name: 'oid', label: 'Object', resource: 'any'}],
    facts: [
      ['Time', time('timestamp')],
      ['Level', (event) => html`<${Status} value=${event.level} />`],
      ['Object', eventObject],
      ['Cluster', cluster],
      ['Action', eventAction],
      ['Status', (event) => event.status],
      ['Reason', text('status_reason')],
      ['Request', (event) => html`<${RequestId}
        id=${event.meta_data?.request_id} />`],
      ['Details', (event) => html`<${Json} value=${event.meta_data} />`],
    ],
    related: [],
  },
};
