// SPDX-License-Identifier: Apache-2.0
// What the theme's pages lack for users of a keyboard or a screen reader.

const scrollers = document.querySelectorAll('article pre, .table-wrapper');

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
  scrollers.forEach((box) => observer.observe(box));
});
