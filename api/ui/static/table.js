// SPDX-License-Identifier: Apache-2.0
// The table of a kind: filters, sorting and paging by the API's parameters.
// On narrow screens, each row is a card; roles keep the semantics of a table.

import {html, useEffect, useState} from './preact-htm.js';
import {get, may} from './api.js';
import {BulkOperations, bulkOperations} from './bulk.js';
import {UNFINISHED, words} from './elements.js';
import {KINDS, nameOfItem} from './kinds.js';
import {learn, learned, nameOf} from './names.js';
import {usePoll} from './poll.js';
import {go, href} from './route.js';
import {useStore} from './store.js';

const LIMITS = [25, 50, 100, 500];
const MOST_UNFINISHED = 500;
const PAGE = 500; // items of a request that looks for a part of a name
const MOST_PAGES = 20;

// Load one item more than shown: then there is a next page.
async function load(kind, query, limit) {
  const params = new URLSearchParams(query);
  if (!params.has('sort')) params.set('sort', KINDS[kind].sort);
  const part = params.get('name');
  const {items, more} = part
    ? await search(kind, params, part.toLowerCase(), limit)
    : await page(kind, params, limit);
  learn(items);
  const context = kind === 'actions' ? await progress(items) : {};
  return {items, more, context};
}

async function page(kind, params, limit) {
  params.set('limit', limit + 1);
  const data = await get(`v1/${kind}?${params}`);
  const items = data[kind];
  // With links, [api] max_limit is lower than the limit here.
  const more = items.length > limit || Boolean(data.links);
  return {items: items.slice(0, limit), more};
}

// The API finds exact names only, so look for parts of names page by page.
async function search(kind, params, part, limit) {
  const items = [];
  params.delete('name');
  for (let read = 0; read < MOST_PAGES; read += 1) {
    const {items: all, more} = await page(kind, params, PAGE);
    items.push(...all.filter(
      (item) => item.name.toLowerCase().includes(part)));
    if (items.length > limit) {
      return {items: items.slice(0, limit), more: true};
    }
    if (!more) break;
    params.set('marker', all.at(-1).id);
  }
  return {items, more: false};
}

// Return the IDs of the unfinished actions, if any action waits for others.
async function progress(actions) {
  const waiting = actions.some((action) => action.depends_on.length
    && UNFINISHED.includes(action.status));
  if (!waiting) return {};
  const params = new URLSearchParams(
    UNFINISHED.map((status) => ['status', status]));
  params.set('limit', MOST_UNFINISHED);
  const {actions: unfinished} = await get(`v1/actions?${params}`);
  return {unfinished: new Set(unfinished.map((action) => action.id))};
}

// without: name of a field whose column is left out; selected: IDs of items;
// select: is called with the new IDs; without it, there are no check boxes.
export function Rows({
  kind, items, context, sort, sortBy, label, without, selected, select,
}) {
  const columns = KINDS[kind].columns.filter(
    (column) => !without || column.field !== without);
  const [key, direction] = (sort || '').split(':');
  useStore(learned);
  function header(column) {
    if (!column.sort || !sortBy) return column.title;
    const current = column.sort === key;
    const next = current && direction !== 'desc' ? ':desc' : '';
    return html`<button type="button" class="sort"
      onClick=${() => sortBy(column.sort + next)}>${column.title}<span
      aria-hidden="true"> ${current ? (direction === 'desc' ? '↓' : '↑')
        : ''}</span></button>`;
  }
  function toggle(changed, isOn) {
    const next = new Set(selected);
    for (const {id} of changed) {
      if (isOn) next.add(id);
      else next.delete(id);
    }
    select(next);
  }
  const box = (name, changed) => html`<input type="checkbox"
    aria-label="Select ${name}"
    checked=${changed.every(({id}) => selected.has(id))}
    onChange=${(event) => toggle(changed, event.target.checked)} />`;
  return html`<table role="table" class="rows" aria-label=${label}>
    <thead role="rowgroup"><tr role="row">
      ${select && html`<th role="columnheader" scope="col" class="select"
        >${box('all', items)}</th>`}
      ${columns.map((column) => html`<th role="columnheader" scope="col"
        aria-sort=${column.sort !== key ? undefined
          : direction === 'desc' ? 'descending' : 'ascending'}
        >${header(column)}</th>`)}
    </tr></thead>
    <tbody role="rowgroup">
      ${items.map((item) => html`<tr role="row" key=${item.id}
        data-id=${item.id}>
        ${select && html`<td role="cell" class="select">${
          box(nameOfItem(kind, item), [item])}</td>`}
        ${columns.map((column) => html`<td role="cell" class=${column.wide
          ? 'wide' : ''} data-label=${column.title}>${
          column.cell(item, context)}</td>`)}
      </tr>`)}
    </tbody>
  </table>`;
}

function Filter({filter, query, change}) {
  const value = query.get(filter.name) || '';
  const id = `filter-${filter.name}`;
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  if (filter.resource) {
    return value && html`<button type="button" class="chip"
      onClick=${() => change(filter.name, '')}>
      ${filter.label}: ${nameOf(filter.resource, value)
        || value.slice(0, 8)}
      <span aria-hidden="true"> ✕</span>
      <span class="hidden"> (remove this filter)</span></button>`;
  }
  if (filter.options) {
    return html`<label for=${id}>${filter.label}
      <select id=${id} value=${value}
        onChange=${(event) => change(filter.name, event.target.value)}>
        <option value="">any</option>
        ${filter.options.map((option) => html`<option value=${option}
          selected=${option === value}>${words(option)}</option>`)}
      </select></label>`;
  }
  return html`<form onSubmit=${(event) => {
    event.preventDefault();
    change(filter.name, typed.trim());
  }}><label for=${id}>${filter.label} ${
    filter.isPart ? 'contains' : 'is'}
    <input id=${id} type="search" value=${typed} autocomplete="off"
      placeholder="${filter.isPart ? 'part of a' : 'exact'} ${
        filter.label.toLowerCase()}"
      onInput=${(event) => setTyped(event.target.value)}
      onChange=${(event) => change(filter.name, event.target.value.trim())}
      /></label></form>`;
}

// The page of a kind; the query of the URL has filters, sort and marker.
export function TablePage({kind, query, actions}) {
  const {title, one, filters, sort, columns} = KINDS[kind];
  const limit = Number(query.get('limit')) || LIMITS[1];
  const {data, error} = usePoll(
    `${kind}?${query}`, () => load(kind, query, limit));

  function change(name, value) {
    const next = new URLSearchParams(query);
    if (value) next.set(name, value);
    else next.delete(name);
    if (name !== 'marker') next.delete('marker');
    if (next.toString() !== query.toString()) go(href([kind], next));
  }

  useStore(learned);
  const [selected, select] = useState(new Set());
  const chosen = (data?.items || []).filter(({id}) => selected.has(id));
  const filtered = filters.some((filter) => query.has(filter.name));
  const sortable = columns.filter((column) => column.sort);
  return html`
    <div class="title"><h1 tabindex="-1">${title}</h1>
      <div class="buttons">${actions}</div></div>
    <div class="filters" role="search" aria-label="Filter ${title}">
      ${filters.map((filter) => html`<${Filter} key=${filter.name}
        filter=${filter} query=${query} change=${change} />`)}
      <label class="narrow" for="sort">Sort by
        <select id="sort"
          onChange=${(event) => change('sort', event.target.value)}>
          ${sortable.flatMap((column) => ['', ':desc'].map((order) => {
            const value = column.sort + order;
            return html`<option value=${value}
              selected=${value === (query.get('sort') || sort)}
              >${column.title}${order && ', descending'}</option>`;
          }))}
        </select></label>
      <label for="limit">Rows
        <select id="limit"
          onChange=${(event) => change('limit', event.target.value)}>
          ${LIMITS.map((value) => html`<option selected=${value === limit}
            >${value}</option>`)}
        </select></label>
    </div>
    ${error && !error.isOutage && html`<p role="alert" class="notice bad"
      >${error.message}</p>`}
    ${!data && !error && html`<p class="empty">Loading ${title.toLowerCase()}…
      </p>`}
    ${data && !data.items.length && html`<p class="empty">${filtered
      ? `No ${one} matches the filters.` : `There are no ${
        title.toLowerCase()}.`}</p>`}
    ${chosen.length > 0 && html`<${BulkOperations} kind=${kind}
      items=${chosen} select=${select} />`}
    ${data?.items.length > 0 && html`<${Rows} kind=${kind} ...${data}
      sort=${query.get('sort') || sort} label=${title} selected=${selected}
      select=${bulkOperations(kind).length > 0 && select}
      sortBy=${(value) => change('sort', value)} />`}
    ${data && html`<nav class="pages" aria-label="Pages">
      ${query.has('marker') && html`<button type="button"
        onClick=${() => change('marker', '')}>First page</button>
        <button type="button" onClick=${() => history.back()}
        >Previous page</button>`}
      ${data.more && html`<button type="button" onClick=${() => change(
        'marker', data.items.at(-1).id)}>Next page</button>`}
    </nav>`}`;
}

const RELATED_LIMIT = 10;

// The first rows of another kind that refer to a resource.
export function RelatedRows({kind, item, field, query, keep}) {
  const all = query(item);
  const params = new URLSearchParams(all);
  const {data} = usePoll(`${kind}?${params}#related ${item.id}`, async () => {
    if (!keep) return load(kind, params, RELATED_LIMIT);
    const {items, ...rest} = await load(kind, params, PAGE);
    return {items: items.filter((other) => keep(other, item)), ...rest};
  });
  const {title, rule} = KINDS[kind];
  if (!may(rule)) return null;
  return html`<section aria-labelledby="related-${kind}">
    <h2 id="related-${kind}">${title}</h2>
    ${!data ? html`<p class="empty">Loading…</p>`
      : !data.items.length ? html`<p class="empty">None.</p>`
        : html`<${Rows} kind=${kind} ...${data} label=${title}
          without=${field} />`}
    ${data?.more && html`<p><a href=${href([kind], all)}
      >All ${title.toLowerCase()}</a></p>`}
  </section>`;
}
