// SPDX-License-Identifier: Apache-2.0
// Small charts in SVG. Each has a text that says what it shows.

import {html} from './preact-htm.js';

const WIDTH = 160;
const HEIGHT = 36;
const FEWEST = 12; // steps: fewer values do not fill the width

// A line of values over time, the newest at the right.
export function Sparkline({values, label}) {
  if (values.length < 2) return null;
  const top = Math.max(...values, 1e-9);
  const step = WIDTH / Math.max(values.length - 1, FEWEST);
  const line = values.map((value, index) => {
    const x = WIDTH - (values.length - 1 - index) * step;
    const y = HEIGHT - 2 - (value / top) * (HEIGHT - 4);
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  }).join(' ');
  return html`<svg class="chart" role="img" aria-label=${label}
    viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none">
    <polyline points=${line} vector-effect="non-scaling-stroke" /></svg>`;
}

// One bar divided by parts: [{name, value, mood}].
export function Shares({parts, label}) {
  const total = parts.reduce((sum, part) => sum + part.value, 0);
  if (!total) return null;
  let left = 0;
  return html`<svg class="chart shares" role="img" aria-label=${label}
    viewBox="0 0 ${WIDTH} 10" preserveAspectRatio="none">
    ${parts.map(({name, value, mood}) => {
      const width = (value / total) * WIDTH;
      left += width;
      return html`<rect key=${name} class=${mood} x=${left - width} y="0"
        width=${Math.max(width - 1, 0.5)} height="10" />`;
    })}</svg>`;
}
