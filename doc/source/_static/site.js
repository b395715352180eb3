// SPDX-License-Identifier: Apache-2.0
// What the theme's pages lack for users of a keyboard or a screen reader.

const scrollers = document.querySelectorAll('article pre, .table-wrapper, div.graphviz');

// A table of figures scrolls on a phone. Other tables become lists there: see
// site.css.
const FIGURES = 24;
for (const table of document.querySelectorAll('article table.docutils:not(.rest-parts)')) {
  const cells = [...table.querySelectorAll('tbody td')];
  if (cells.every((cell) => cell.textContent.trim().length < FIGURES)) continue;
  table.classList.add('records');
  const labels = [...table.querySelectorAll('thead th')].map((cell) => cell.textContent.trim());
  if (labels.length < 3) continue;
  for (const row of table.querySelectorAll('tbody tr')) {
    [...row.cells].forEach((cell, column) => { cell.dataset.label = labels[column]; });
  }
}

// The alternative text is inside the object.
for (const image of document.querySelectorAll('object.graphviz')) {
  image.setAttribute('aria-label', image.textContent.trim());
}

// A box that scrolls must be reachable by keyboard, others must not.
const update = (box) => {
  if (box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight) {
    box.tabIndex = 0;
  } else {
    box.removeAttribute('tabindex');
  }
};

document.addEventListener('DOMContentLoaded', () => {
  for (const caption of document.querySelectorAll('.caption[role=heading]')) {
    caption.setAttribute('aria-level', '2');
  }
  document.querySelector('.sidebar-drawer')?.setAttribute('aria-label', 'Pages');
  document.querySelector('.toc-drawer')?.setAttribute('aria-label', 'On this page');
  const observer = new ResizeObserver((entries) => {
    entries.forEach((entry) => update(entry.target));
  });
  scrollers.forEach((box) => {
    // The observer first reports after the page has been drawn.
    update(box);
    observer.observe(box);
  });
});

// A site of several releases has a list of them; see tools/site.
const offerReleases = async () => {
  const root = new URL(document.documentElement.dataset.content_root, document.baseURI);
  const answer = await fetch(new URL('../versions.json', root));
  const release = root.pathname.split('/').at(-2);
  const releases = answer.ok ? await answer.json() : [];
  if (!releases.includes(release)) return;
  const label = document.createElement('label');
  const select = document.createElement('select');
  select.append(...releases.map((name) => new Option(name, name, false, name === release)));
  select.addEventListener('change', async () => {
    const other = new URL(`../${select.value}/`, root);
    const page = new URL(document.location.pathname.slice(root.pathname.length), other);
    const exists = (await fetch(page, { method: 'HEAD' })).ok;
    document.location = exists ? page : new URL('index.html', other);
  });
  label.className = 'releases';
  label.append('Release ', select);
  document.querySelector('.sidebar-brand')?.after(label);
};

// tools/site sets the option. Files on disk cannot be requested.
if (DOCUMENTATION_OPTIONS.HAS_RELEASES && document.location.protocol.startsWith('http')) {
  offerReleases();
}
