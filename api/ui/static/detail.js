// SPDX-License-Identifier: Apache-2.0
// The page of one resource: facts, related tables, the tree of an action.

import {html, useEffect} from './preact-htm.js';
import {get, may} from './api.js';
import {
  Progress, ResourceLink, Status, UNFINISHED, words,
} from './elements.js';
import {actionDuration, KINDS, nameOfItem, targetKind} from './kinds.js';
import {learn, learned} from './names.js';
import {Operations} from './operations.js';
import {usePoll} from './poll.js';
import {go} from './route.js';
import {useStore} from './store.js';
import {RelatedRows} from './table.js';

const TREE_LIMIT = 1000;

export function DetailPage({kind, id, setTitle}) {
  const {key, one, title, facts, related} = KINDS[kind];
  const path = `v1/${kind}/${encodeURIComponent(id)}`;
  const {data, error} = usePoll(
    path, async () => (await get(path))[key], 3000);
  const isGone = error?.status === 404;
  const item = isGone ? undefined : data;
  // The page was of a resource that has been deleted meanwhile.
  useEffect(() => {
    if (isGone && data) go(`#/${kind}`);
  }, [isGone && data]);
  useStore(learned);
  if (item && kind !== 'actions') learn([item]);
  const name = item ? nameOfItem(kind, item) : id.slice(0, 8);
  setTitle(name);
  return html`
    <p class="crumbs"><a href="#/${kind}">${title}</a></p>
    <div class="title">
      <h1 tabindex="-1">${name} ${item?.status && kind !== 'events'
        && html`<${Status} value=${item.status} />`}</h1>
      ${item && html`<${Operations} kind=${kind} item=${item} />`}
    </div>
    ${error && !error.isOutage && html`<p role="alert" class="notice bad">${
      error.status === 404 ? `This ${one} does not exist (any more).`
        : error.message}</p>`}
    ${!item && !error && html`<p class="empty">Loading…</p>`}
    ${item && html`
      <dl class="facts">
        <div><dt>ID</dt><dd><code>${item.id}</code></dd></div>
        ${facts.map(([label, show]) => html`<div>
          <dt>${label}</dt><dd>${show(item)}</dd></div>`)}
      </dl>
      ${kind === 'actions' && html`<${ActionTree} action=${item} />`}
      ${kind === 'clusters' && html`<${ClusterPolicies} cluster=${item} />`}
      ${related.map(([other, relation]) => html`<${RelatedRows}
        key=${other} kind=${other} item=${item} ...${relation} />`)}`}`;
}

function ClusterPolicies({cluster}) {
  const path = `v1/clusters/${cluster.id}/policies`;
  const {data} = usePoll(path, async () => (await get(path)).cluster_policies);
  if (!may('cluster_policies:index')) return null;
  return html`<section aria-labelledby="policies">
    <h2 id="policies">Policies</h2>
    ${!data ? html`<p class="empty">Loading…</p>`
      : !data.length ? html`<p class="empty">None.</p>` : html`
      <table role="table" class="rows" aria-label="Policies">
        <thead role="rowgroup"><tr role="row">
          ${['Name', 'Type', 'State', 'Change'].map((title) => html`<th
            role="columnheader" scope="col">${title}</th>`)}
        </tr></thead>
        <tbody role="rowgroup">${data.map((policy) => html`
          <tr role="row" key=${policy.id} data-id=${policy.policy_id}>
            <td role="cell" data-label="Name"><${ResourceLink} kind="policies"
              id=${policy.policy_id} name=${policy.policy_name} /></td>
            <td role="cell" data-label="Type">${policy.policy_type}</td>
            <td role="cell" data-label="State">${
              policy.enabled ? 'enabled' : 'disabled'}</td>
            <td role="cell" data-label="Change"><${Operations}
              kind="cluster_policies"
              item=${{...policy, cluster}} /></td>
          </tr>`)}</tbody>
      </table>`}
  </section>`;
}

// The actions that an action depends on, and those that depend on them, from
// the actions of the same cluster.
async function loadTree(action) {
  const byId = new Map([[action.id, action]]);
  const params = new URLSearchParams({
    sort: 'created_at:desc', limit: TREE_LIMIT,
  });
  if (action.cluster_id) params.set('cluster_id', action.cluster_id);
  const linked = action.depends_on.length + action.depended_by.length;
  if (linked) {
    const {actions} = await get(`v1/actions?${params}`);
    for (const other of actions) byId.set(other.id, other);
  }
  return byId;
}

function ActionTree({action}) {
  const {data: byId} = usePoll(
    `tree ${action.id} ${action.status}`, () => loadTree(action), 3000);
  const parents = action.depended_by;
  const children = action.depends_on;
  if (!parents.length && !children.length) return null;
  const total = children.length;
  const done = byId && children.filter((id) => byId.has(id)
    && !UNFINISHED.includes(byId.get(id).status)).length;
  return html`<section aria-labelledby="dependencies">
    <h2 id="dependencies">Dependencies</h2>
    ${parents.map((id) => html`<p>Part of <${ActionLine} id=${id}
      action=${byId?.get(id)} /></p>`)}
    ${total > 0 && byId && html`<p><${Progress} done=${done} total=${total}
      label="Actions that have ended" /> actions have ended</p>`}
    ${total > 0 && byId && html`<${Branch} ids=${children} byId=${byId}
      above=${[action.id]} />`}
  </section>`;
}

function Branch({ids, byId, above}) {
  return html`<ul class="tree">${ids.map((id) => {
    const action = byId.get(id);
    const below = (action?.depends_on || []).filter(
      (other) => !above.includes(other));
    return html`<li key=${id}><${ActionLine} id=${id} action=${action} />
      ${below.length > 0 && html`<${Branch} ids=${below} byId=${byId}
        above=${[...above, id]} />`}</li>`;
  })}</ul>`;
}

function ActionLine({id, action}) {
  if (!action) return html`<${ResourceLink} kind="actions" id=${id} />`;
  return html`<span class="line"><${ResourceLink} kind="actions" id=${id}
      name=${words(action.action)} />
    <${ResourceLink} kind=${targetKind(action)} id=${action.target} />
    <${Status} value=${action.status} />
    <span class="note">${actionDuration(action)}${action.status_reason
      && `, ${action.status_reason}`}</span></span>`;
}
