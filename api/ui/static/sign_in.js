// SPDX-License-Identifier: Apache-2.0
// The form to sign in to Keystone. With HTTP basic authentication, the browser
// itself asks for name and password.

import {html, useEffect, useState} from './preact-htm.js';
import {loadSession, signIn} from './api.js';

export function SignIn({challenge}) {
  useEffect(() => {
    document.title = 'Sign in - Clustering console';
  }, []);
  const isKeystone = challenge.toLowerCase().startsWith('keystone');
  return html`<main class="sign-in" id="main">
    <h1>Sign in</h1>
    ${isKeystone ? html`<${KeystoneForm} />` : html`
      <p>The API needs your name and password; the browser asks for them.</p>
      <button type="button" class="primary"
        onClick=${() => loadSession().catch(() => {})}>Sign in</button>`}
  </main>`;
}

function KeystoneForm() {
  const [error, setError] = useState('');
  const [busy, setBusy] = useState(false);
  const [projects, setProjects] = useState(null);

  async function submit(event) {
    event.preventDefault();
    const credentials = Object.fromEntries(
      [...new FormData(event.target)].filter(([, value]) => value));
    setBusy(true);
    setError('');
    try {
      const choices = await signIn(credentials);
      if (choices.length) setProjects(choices);
    } catch (problem) {
      setError(problem.message);
    }
    setBusy(false);
  }

  return html`<form onSubmit=${submit}>
    <label for="user">Name
      <input id="user" name="user" autocomplete="username" required
        autofocus /></label>
    <label for="password">Password
      <input id="password" name="password" type="password"
        autocomplete="current-password" required /></label>
    ${projects ? html`<label for="project">Project
      <select id="project" name="project_id">${projects.map(
        (project) => html`<option value=${project.id}>${project.name}
          </option>`)}</select></label>`
      : html`<label for="project">Project (optional)
        <input id="project" name="project" autocomplete="off" /></label>`}
    <label for="domain">Domain (optional)
      <input id="domain" name="domain" autocomplete="off"
        placeholder="Default" /></label>
    ${error && html`<p role="alert" class="notice bad">${error}</p>`}
    ${projects && html`<p role="status">Choose a project.</p>`}
    <button class="primary" disabled=${busy}>${
      busy ? 'Signing in…' : 'Sign in'}</button>
  </form>`;
}
