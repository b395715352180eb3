// SPDX-License-Identifier: Apache-2.0
// Changes of resources: one entry per operation. An entry says which policy
// rule allows it, which fields its dialog has and which request it sends. With
// "many", users can apply it to several items of a table, see bulk.js.

import {html, useState} from './preact-htm.js';
import {may, request} from './api.js';
import {Dialog} from './dialog.js';
import {plural, UNFINISHED, words} from './elements.js';
import {follow} from './follow.js';
import {refresh} from './poll.js';
import {go} from './route.js';

const count = {
  name: 'count', label: 'Number of nodes', type: 'number', min: 1, value: 1,
};
const force = {
  name: 'force', label: 'Force', type: 'checkbox',
  help: 'Delete it even while another action uses it.',
};
const name = {name: 'name', label: 'Name', type: 'text'};
const repair = {
  name: 'operation', label: 'Operation', type: 'select', optional: true,
  options: ['RECREATE', 'REBUILD', 'REBOOT'].map((value) => [value, value]),
};

const POST = 'POST';
const action = (kind, item, body) => [POST, `v1/${kind}/${item.id}/actions`,
  body];
const deletion = (kind) => (item, values = {}) => ['DELETE',
  `v1/${kind}/${item.id}${values.force ? '?force=true' : ''}`];

function simpleDeletion(kind, one) {
  return {
    id: 'delete', label: 'Delete', rule: `${kind}:delete`, danger: true,
    many: true,
    text: (item) => `The ${one} ${item.name} will be deleted.`,
    send: deletion(kind), leave: kind,
  };
}

// The other actions of receivers need parameters.
const WEBHOOK_ACTIONS = ['CLUSTER_SCALE_OUT', 'CLUSTER_SCALE_IN',
  'CLUSTER_CHECK', 'CLUSTER_RECOVER'];

// Operations of a list ("create") and of an item.
export const OPERATIONS = {
  'clusters/': [{
    id: 'create', label: 'Create cluster', rule: 'clusters:create',
    fields: () => [
      name,
      {name: 'profile_id', label: 'Profile', type: 'select',
        optionsFrom: 'profiles'},
      {name: 'desired_capacity', label: 'Number of nodes', type: 'number',
        min: 0, value: 1},
      {name: 'min_size', label: 'Minimum', type: 'number', min: 0, value: 0},
      {name: 'max_size', label: 'Maximum', type: 'number', min: -1,
        value: -1, help: '-1: no limit of the cluster'},
    ],
    send: (_, values) => [POST, 'v1/clusters', {cluster: values}],
  }],
  'profiles/': [{
    id: 'create', label: 'Create profile', rule: 'profiles:create',
    fields: () => [name,
      {name: 'spec', label: 'Type of profile', type: 'spec',
        optionsFrom: 'profile-types'}],
    send: (_, values) => [POST, 'v1/profiles', {profile: values}],
  }],
  'policies/': [{
    id: 'create', label: 'Create policy', rule: 'policies:create',
    fields: () => [name,
      {name: 'spec', label: 'Type of policy', type: 'spec',
        optionsFrom: 'policy-types'}],
    send: (_, values) => [POST, 'v1/policies', {policy: values}],
  }],
  'receivers/': [{
    id: 'create', label: 'Create webhook', rule: 'receivers:create',
    fields: () => [
      name,
      {name: 'cluster_id', label: 'Cluster', type: 'select',
        optionsFrom: 'clusters'},
      {name: 'action', label: 'Action', type: 'select',
        options: WEBHOOK_ACTIONS.map((value) => [value, words(value)])},
    ],
    send: (_, values) => [POST, 'v1/receivers',
      {receiver: {type: 'webhook', ...values}}],
  }],
  clusters: [
    {
      id: 'scale-out', label: 'Scale out', rule: 'clusters:action',
      fields: () => [count],
      send: (item, values) => action('clusters', item, {scale_out: values}),
    },
    {
      id: 'scale-in', label: 'Scale in', rule: 'clusters:action',
      danger: true,
      text: (item) => `Nodes of ${item.name} will be deleted.`,
      fields: () => [count],
      send: (item, values) => action('clusters', item, {scale_in: values}),
    },
    {
      id: 'resize', label: 'Resize', rule: 'clusters:action',
      fields: (item) => [
        {name: 'number', label: 'Number of nodes', type: 'number', min: 0,
          value: item.desired_capacity},
        {name: 'min_size', label: 'Minimum', type: 'number', min: 0,
          value: item.min_size},
        {name: 'max_size', label: 'Maximum', type: 'number', min: -1,
          value: item.max_size, help: '-1: no limit of the cluster'},
      ],
      send: (item, values) => action('clusters', item, {
        resize: {adjustment_type: 'EXACT_CAPACITY', ...values},
      }),
    },
    {
      id: 'check', label: 'Check', rule: 'clusters:action', many: true,
      text: (item) => `An engine will check the nodes of ${item.name}.`,
      send: (item) => action('clusters', item, {check: {}}),
    },
    {
      id: 'recover', label: 'Recover', rule: 'clusters:action',
      many: true,
      text: (item) => `Unhealthy nodes of ${item.name} will be recovered.`,
      fields: () => [repair],
      send: (item, values) => action('clusters', item, {recover: values}),
    },
    {
      id: 'attach', label: 'Attach policy', rule: 'clusters:action',
      fields: () => [{name: 'policy_id', label: 'Policy', type: 'select',
        optionsFrom: 'policies'}],
      send: (item, values) => action('clusters', item, {
        policy_attach: {...values, enabled: true},
      }),
    },
    {
      id: 'delete', label: 'Delete', rule: 'clusters:delete', danger: true,
      many: true,
      more: (items) => ` Their ${plural(items.reduce(
        (sum, item) => sum + item.nodes.length, 0), 'node')} will be deleted,
        too.`,
      text: (item) => `The cluster ${item.name} and its ${
        item.nodes.length} nodes will be deleted.`,
      fields: () => [force], send: deletion('clusters'),
    },
  ],
  cluster_policies: [
    {
      id: 'update', rule: 'clusters:action',
      label: (item) => (item.enabled ? 'Disable' : 'Enable'),
      text: (item) => `${item.policy_name} will be ${item.enabled
        ? 'disabled' : 'enabled'} on ${item.cluster.name}.`,
      send: (item) => action('clusters', item.cluster, {
        policy_update: {policy_id: item.policy_id, enabled: !item.enabled},
      }),
    },
    {
      id: 'detach', label: 'Detach', rule: 'clusters:action', danger: true,
      text: (item) => `${item.policy_name} will be detached from ${
        item.cluster.name}.`,
      send: (item) => action('clusters', item.cluster, {
        policy_detach: {policy_id: item.policy_id},
      }),
    },
  ],
  nodes: [
    {
      id: 'check', label: 'Check', rule: 'nodes:action', many: true,
      text: (item) => `An engine will check ${item.name}.`,
      send: (item) => action('nodes', item, {check: {}}),
    },
    {
      id: 'recover', label: 'Recover', rule: 'nodes:action',
      many: true,
      text: (item) => `${item.name} will be recovered.`,
      fields: () => [repair],
      send: (item, values) => action('nodes', item, {recover: values}),
    },
    {
      id: 'delete', label: 'Delete', rule: 'nodes:delete', danger: true,
      many: true,
      text: (item) => `The node ${item.name} will be deleted.`,
      fields: () => [force], send: deletion('nodes'),
    },
  ],
  actions: [{
    id: 'cancel', label: 'Cancel action', rule: 'actions:update',
    danger: true, many: true, when: (item) => UNFINISHED.includes(item.status),
    text: () => 'The action and the actions that it depends on will be'
      + ' cancelled.',
    fields: () => [{...force, help: 'Cancel actions that are running, too.'}],
    send: (item, values) => ['PATCH',
      `v1/actions/${item.id}${values.force ? '?force=true' : ''}`,
      {action: {status: 'CANCELLED'}}],
  }],
  profiles: [simpleDeletion('profiles', 'profile')],
  policies: [simpleDeletion('policies', 'policy')],
  receivers: [simpleDeletion('receivers', 'receiver')],
};

const titleOf = (operation, item) => {
  const label = labelOf(operation, item);
  const subject = item?.name || item?.policy_name;
  return subject ? `${label} ${subject}` : label;
};
const labelOf = ({label}, item) => (typeof label === 'function'
  ? label(item) : label);

// Buttons for the operations that the policy allows the caller.
export function Operations({kind, item}) {
  const [open, setOpen] = useState(null);
  const all = (OPERATIONS[item ? kind : `${kind}/`] || []).filter(
    (operation) => !operation.when || operation.when(item));
  const allowed = all.filter((operation) => may(operation.rule));
  if (!all.length) return null;
  if (!allowed.length) {
    return html`<p class="note">Your roles allow no changes here (policy rule
      ${' '}<code>${all[0].rule}</code>).</p>`;
  }

  async function submit(values) {
    const sent = open;
    const {action: id, data} = await request(...sent.send(item, values));
    follow(titleOf(sent, item || values), data.action || id);
    refresh();
    if (sent.leave) go(`#/${sent.leave}`);
  }

  return html`<div class="buttons">
    ${allowed.map((operation) => html`<button type="button"
      key=${operation.id} class=${operation.danger ? 'danger' : ''}
      onClick=${() => setOpen(operation)}>${labelOf(operation, item)}…
      </button>`)}
    ${open && html`<${Dialog} key=${open.id} title=${titleOf(open, item)}
      text=${open.text?.(item)} fields=${open.fields?.(item) || []}
      confirm=${labelOf(open, item)} danger=${open.danger} submit=${submit}
      close=${() => setOpen(null)} />`}
  </div>`;
}
