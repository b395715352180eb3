// SPDX-License-Identifier: Apache-2.0
// The fleet: microversions by engines, the progress of an upgrade, processes.

import {html, useContext} from './preact-htm.js';
import {get, may, served} from './api.js';
import {duration, plural, Progress, shortId, Stale, Status, Time}
  from './elements.js';
import {usePoll} from './poll.js';

const EVERY = 30000; // milliseconds between verdicts, which read rows

const compare = (left, right) => {
  const [a, b] = [left, right].map((text) => text.split('.').map(Number));
  return a[0] - b[0] || a[1] - b[1];
};

export function Fleet() {
  const allowed = may('services:index');
  const {data, error} = usePoll(
    'ui/fleet', () => (allowed ? get('ui/fleet') : get('v1')));
  if (!allowed) {
    return html`<p>The highest microversion now is <strong>${served.value
      || data?.version?.max_version || '…'}</strong>. Only administrators see
      the engines (policy rule <code>services:index</code>).</p>`;
  }
  if (!data) {
    return html`<p class="empty">${error && !error.isOutage
      ? error.message : 'Loading the fleet…'}</p>`;
  }
  const engines = data.groups.filter((group) => group.serves);
  return html`
    <div class="columns"><${Headline} fleet=${data} engines=${engines} />
      <${Upgrade} fleet=${data} engines=${engines} /></div>
    <${Matrix} fleet=${data} engines=${engines} />
    <${Processes} fleet=${data} />`;
}

function Headline({fleet, engines}) {
  const stale = useContext(Stale);
  const isNewest = fleet.max_microversion === fleet.newest;
  return html`<section aria-labelledby="served" class="headline">
    <h2 id="served">Highest microversion</h2>
    <p id="maximum"><strong class="number">${fleet.max_microversion}</strong>
      ${' '}${stale ? 'was served' : 'is served now'}${isNewest
        ? ', the newest of this release.'
        : html`; the newest of this release is ${fleet.newest}.`}</p>
    ${fleet.reason && html`<p id="reason" class="notice warning"
      ><strong>${nextAfter(fleet)} is not served:</strong> ${fleet.reason}.</p>`}
    ${!engines.length && html`<p class="notice bad">No engine is alive.</p>`}
  </section>`;
}

function nextAfter(fleet) {
  const above = fleet.microversions.filter(
    ({version}) => compare(version, fleet.max_microversion) > 0);
  return above.at(-1)?.version || fleet.newest;
}

function Upgrade({fleet, engines}) {
  const total = engines.reduce((sum, group) => sum + group.count, 0);
  const newest = engines.reduce((best, group) => (
    !best || compare(group.max_microversion, best) > 0
      ? group.max_microversion : best), '');
  const done = engines.filter((group) => group.max_microversion === newest)
    .reduce((sum, group) => sum + group.count, 0);
  const joining = engines.reduce((sum, group) => sum + group.joining, 0);
  const draining = engines.reduce((sum, group) => sum + group.draining, 0);
  const origin = fleet.hold_origin;
  return html`<section aria-labelledby="upgrade">
    <h2 id="upgrade">Upgrade</h2>
    <p>${total > 0 && html`<${Progress} done=${done} total=${total}
        label="Engines that support ${newest}" />`}
      ${' '}${total === 1 ? 'engine supports' : 'engines support'} ${newest}.
      ${joining > 0 && ` ${plural(joining, 'engine')} wait to join until
        every process knows them.`}
      ${draining > 0 && ` ${plural(draining, 'engine')} complete their work
        and stop.`}</p>
    <p id="hold">${fleet.held
      ? html`<strong>A hold is set${origin?.owner && ` by ${origin.owner}`}
        ${origin && html`${' '}at <${Time} value=${origin.since} />`}${
        origin?.reason && `, because ${origin.reason}`}:</strong> the versions
        in use do not rise, so that you can roll back. End it after the
        upgrade: ${' '}
        <code>vobjects fleet finalize</code>`
      : html`No hold is set: the versions in use rise when the last old engine
        stops. To keep a rollback possible, set one before the upgrade: ${' '}
        <code>vobjects fleet hold</code>`}</p>
    <${Rollback} />
  </section>`;
}

function Rollback() {
  const {data} = usePoll('ui/rollback', () => get('ui/rollback'), EVERY);
  if (!data) return null;
  const {release, reason, reasons} = data;
  const answer = data.can_roll_back;
  return html`<div id="rollback">${reason ? html`<p>${reason}</p>`
    : !release ? html`<p>There is no older release to roll back to.</p>`
      : html`<p>Rollback to ${release}: <${Status} value=${answer === null
        ? 'WARNING' : answer ? 'possible' : 'impossible'} />
        ${answer === null && ' not known'}</p>
        <ul>${reasons.map((text) => html`<li>${text}</li>`)}</ul>`}</div>`;
}

function Matrix({fleet, engines}) {
  const stale = useContext(Stale);
  const held = compare(fleet.max_microversion, fleet.newest) < 0
    ? fleet.max_microversion : '';
  return html`<section>
    <h2 id="matrix-title">Microversions by engines</h2>
    <div class="scroll" tabindex="0" role="region"
      aria-labelledby="matrix-title">
    <table class="matrix" id="matrix">
      <thead><tr>
        <th scope="col">Version</th>
        <th scope="col">${stale ? 'Was served' : 'Served'}</th>
        ${engines.map((group) => html`<th scope="col"
          class=${held && group.max_microversion === held ? 'limits' : ''}>
          ${group.releases.join(', ')}
          <small>${[plural(group.count, 'engine'),
            group.joining > 0 && `${group.joining} joining`,
            group.draining > 0 && `${group.draining} draining`,
          ].filter(Boolean).join(', ')}</small>
          <small>${group.hosts.join(', ')}</small>
          <small title="Manifest ${group.manifest}">manifest ${
            shortId(group.manifest)}</small>
        </th>`)}
        <th scope="col" class="wide">Changes</th>
      </tr></thead>
      <tbody>${fleet.microversions.map(({version, changes}) => html`
        <tr key=${version} class=${version === fleet.max_microversion
          ? 'maximum' : ''}>
          <th scope="row">${version}</th>
          <td><${Cell} yes=${
            compare(version, fleet.max_microversion) <= 0} /></td>
          ${engines.map((group) => {
            const limit = group.limits.find(
              ({microversion}) => microversion === version);
            return html`<td><${Cell} yes=${
              compare(version, group.max_microversion) <= 0} />
              ${limit && html`<small>${limit.type}
                ${' '}${limit.has || 'missing'}, needs ${limit.needs}
                </small>`}</td>`;
          })}
          <td class="wide">${changes.join(' ')}</td>
        </tr>`)}</tbody>
    </table></div>
  </section>`;
}

function Cell({yes}) {
  return html`<span class="status ${yes ? 'good' : 'bad'}"><span class="icon"
    aria-hidden="true">${yes ? '✓' : '✕'}</span>
    ${yes ? 'yes' : 'no'}</span>`;
}

function Processes({fleet}) {
  const stale = useContext(Stale);
  const total = fleet.groups.reduce((sum, group) => sum + group.count, 0);
  const hidden = total - fleet.members.length; // the API lists some only
  const columns = ['Process', 'Host', 'Release', 'State', 'Last heartbeat'];
  return html`<section aria-labelledby="processes">
    <h2 id="processes">Processes</h2>
    <table role="table" class="rows" id="members" aria-label="Processes">
      <thead role="rowgroup"><tr role="row">${columns.map((title) => html`<th
        role="columnheader" scope="col">${title}</th>`)}</tr></thead>
      <tbody role="rowgroup">${fleet.members.map((member) => html`
        <tr role="row" key=${member.id} data-id=${member.id}>
          <td role="cell" data-label="Process" title=${member.id}
            >${member.binary} ${shortId(member.id)}</td>
          <td role="cell" data-label="Host">${member.host}</td>
          <td role="cell" data-label="Release">${member.release}</td>
          <td role="cell" data-label="State"><${Status}
            value=${member.state} /></td>
          <td role="cell" data-label="Last heartbeat">${stale ? 'unknown'
            : `${duration(member.age)} ago`}</td>
        </tr>`)}</tbody>
    </table>
    ${hidden > 0 && html`<p class="note">These have the oldest heartbeats.
      There ${hidden === 1 ? 'is' : 'are'} ${hidden.toLocaleString('en')}
      ${' '}more.</p>`}
  </section>`;
}
