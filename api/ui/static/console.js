// SPDX-License-Identifier: Apache-2.0
// The console: navigation, session, and the view that the URL names.

import {html, render, useEffect, useRef, useState} from './preact-htm.js';
import {get, loadSession, may, served, session, signOut} from './api.js';
import {DetailPage} from './detail.js';
import {clock, Stale} from './elements.js';
import {Fleet} from './fleet.js';
import {Notices} from './follow.js';
import {KINDS} from './kinds.js';
import {Operations} from './operations.js';
import {freshness, usePoll} from './poll.js';
import {route} from './route.js';
import {SignIn} from './sign_in.js';
import {useStore} from './store.js';
import {Summary} from './summary.js';
import {TablePage} from './table.js';

const RETRY = 3000; // milliseconds

// Whatever a view shows, it is marked as old 5 seconds after engines hang: this
// many milliseconds between two questions, and until the answer.
const ASK = 2500;
const ANSWER = 2000;

async function ask() {
  if (may('build_info:build_info')) await get('v1/build-info');
  return null;
}

function App() {
  const user = useStore(session);
  const [gone, setGone] = useState('');
  useEffect(() => {
    let timer = 0;
    function start() {
      loadSession().then(() => setGone(''), (error) => {
        setGone(error.message);
        timer = setTimeout(start, RETRY);
      });
    }
    start();
    return () => clearTimeout(timer);
  }, []);
  if (!user) {
    return html`<main><p class="empty" role="status">${gone
      ? `${gone} Trying again…` : 'Loading…'}</p></main>`;
  }
  if (user.challenge) return html`<${SignIn} challenge=${user.challenge} />`;
  return html`<${Frame} user=${user} />`;
}

function Frame({user}) {
  const {path, query} = useStore(route);
  const {failures, at} = useStore(freshness);
  usePoll('v1/build-info', ask, ASK, ANSWER);
  const [kind, id] = path;
  const main = useRef(null);
  const heading = path.join('/');
  const isFirst = useRef(true);
  const stale = failures.size > 0;

  const setTitle = (text) => {
    document.title = `${text} - Clustering console`;
  };
  useEffect(() => {
    if (!isFirst.current) {
      main.current.querySelector('h1')?.focus();
      scrollTo(0, 0);
    }
    isFirst.current = false;
  }, [heading]);

  return html`
    <a class="skip" href="#main" onClick=${(event) => {
      event.preventDefault();
      main.current.querySelector('h1')?.focus();
    }}>Skip to the content</a>
    <header>
      <a class="brand" href="#/"><img src="ui/icon.svg" alt="" width="24"
        height="24" />Clustering</a>
      <nav aria-label="Views">
        <a href="#/" aria-current=${kind ? undefined : 'page'}>Fleet</a>
        ${Object.entries(KINDS).map(([name, {title, rule}]) => may(rule)
          && html`<a href="#/${name}" aria-current=${name === kind
            ? 'page' : undefined}>${title}</a>`)}
      </nav>
      <p class="user">${user.user} in ${user.project}
        ${user.can_sign_out && html` <button type="button"
          onClick=${signOut}>Sign out</button>`}</p>
    </header>
    <div role="alert">${stale && html`<p id="outage" class="notice bad"
      >${[...failures.values()][0].message} ${at
        ? `Everything below was seen at ${clock(at)} and may have changed
          since.` : ''} The console tries again every few seconds.</p>`}</div>
    <${Stale.Provider} value=${stale}>
      <main id="main" ref=${main} class=${stale ? 'stale' : ''}>
        <${View} key=${heading} kind=${kind} id=${id} query=${query}
          setTitle=${setTitle} />
      </main>
    <//>
    <${Notices} />
    <footer>
      <p id="updated">${at ? `${stale ? 'Not updated since' : 'Updated'} ${
        clock(at)}` : 'Loading…'}</p>
      ${served.value && html`<p>API version ${served.value}</p>`}
    </footer>`;
}

function View({kind, id, query, setTitle}) {
  if (!kind) {
    setTitle('Fleet');
    return html`<h1 tabindex="-1">Fleet</h1><${Summary} /><${Fleet} />`;
  }
  if (!(kind in KINDS)) {
    setTitle('Not found');
    return html`<h1 tabindex="-1">Not found</h1>
      <p>There is no such page. <a href="#/">Fleet</a></p>`;
  }
  if (id) {
    return html`<${DetailPage} kind=${kind} id=${id} setTitle=${setTitle} />`;
  }
  setTitle(KINDS[kind].title);
  return html`<${TablePage} kind=${kind} query=${query}
    actions=${html`<${Operations} kind=${kind} />`} />`;
}

render(html`<${App} />`, document.getElementById('console'));
