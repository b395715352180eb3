// SPDX-License-Identifier: Apache-2.0
// Requests to the API with the credentials of this browser tab.
//
// The token of Keystone is kept in sessionStorage: for one tab, until it is
// closed. With HTTP basic authentication, the browser keeps the password.

import {Store} from './store.js';

const TOKEN = 'vobjects.token';
const TIMEOUT = 60000; // milliseconds

// The signed-in caller: {user, project, rules, can_sign_out, trace_url}; null:
// unknown; {challenge}: the caller must sign in.
export const session = new Store(null);

// Microversion of the latest response.
export const served = new Store('');

export class ApiError extends Error {
  // status 0: there was no response.
  constructor(status, detail, challenge = '') {
    super(detail);
    this.status = status;
    this.challenge = challenge;
  }

  get isOutage() {
    return this.status === 0 || this.status >= 500;
  }
}

// Return {data, action}; action is the ID of the action that does the work.
export async function request(method, path, body) {
  const headers = {
    'OpenStack-API-Version': 'clustering latest',
    'X-Requested-With': 'vobjects-ui', // successful polls: logged at DEBUG
  };
  const token = sessionStorage.getItem(TOKEN);
  if (token) headers['X-Auth-Token'] = token;
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  let response;
  try {
    response = await fetch(path, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      cache: 'no-cache',
      signal: AbortSignal.timeout(TIMEOUT),
    });
  } catch {
    throw new ApiError(0, 'The API cannot be reached.');
  }
  const text = await response.text().catch(() => '');
  const version = response.headers.get('OpenStack-API-Version');
  if (version && path.startsWith('v1/')) {
    const number = version.split(' ').pop();
    if (number !== served.value) served.set(number);
  }
  if (!response.ok) {
    const challenge = response.headers.get('WWW-Authenticate') || '';
    const error = new ApiError(
      response.status, detailOf(text) || response.statusText, challenge);
    if (response.status === 401 && path !== 'ui/session') {
      session.set({challenge: error.challenge || 'unknown'});
    }
    throw error;
  }
  const location = response.headers.get('Location') || '';
  return {
    data: parse(text),
    text,
    action: location.split('/v1/actions/')[1] || '',
  };
}

export async function get(path) {
  return (await request('GET', path)).data;
}

// Return whether a policy rule allows the caller.
export function may(rule) {
  return Boolean(session.value?.rules?.includes(rule));
}

export async function loadSession() {
  try {
    session.set(await get('ui/session'));
  } catch (error) {
    if (error.status !== 401) throw error;
    sessionStorage.removeItem(TOKEN);
    session.set({challenge: error.challenge || 'unknown'});
  }
}

// Return the projects to choose from; empty: the caller is signed in.
export async function signIn(credentials) {
  const {data} = await request('POST', 'ui/session', credentials);
  if (data.projects) return data.projects;
  sessionStorage.setItem(TOKEN, data.token);
  await loadSession();
  return [];
}

export async function signOut() {
  await request('DELETE', 'ui/session').catch(() => {});
  sessionStorage.removeItem(TOKEN);
  await loadSession();
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

function detailOf(text) {
  const content = parse(text);
  return content.errors?.[0]?.detail || content.error?.message || '';
}
