// SPDX-License-Identifier: Apache-2.0
// Views have URLs: #/clusters/ID, or #/actions?status=RUNNING&limit=50.

import {Store} from './store.js';

export const route = new Store(parse());

addEventListener('hashchange', () => route.set(parse()));

function parse() {
  const [path, query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  return {
    path: path.split('/').filter(Boolean).map(decodeURIComponent),
    query: new URLSearchParams(query),
  };
}

// Return the URL of a view. Values of the query that are empty are left out;
// arrays are repeated.
export function href(path, query = {}) {
  const params = new URLSearchParams();
  const pairs = query instanceof URLSearchParams
    ? [...query]
    : Object.entries(query);
  for (const [name, values] of pairs) {
    for (const value of [values].flat()) {
      if (value !== '' && value != null) params.append(name, value);
    }
  }
  const text = params.toString();
  return `#/${path.map(encodeURIComponent).join('/')}${text && `?${text}`}`;
}

export function go(url) {
  location.hash = url.slice(1);
}
