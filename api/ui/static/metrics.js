// SPDX-License-Identifier: Apache-2.0
// Request rates from the API's own metrics: two readings of its counters give
// the rates in between.

import {request} from './api.js';

const COUNT = /^vobjects_api_request_duration_seconds_count\{(.*)\} (.*)$/;
const SUM = /^vobjects_api_request_duration_seconds_sum\{(.*)\} (.*)$/;
const MOST = 60; // readings kept

const readings = []; // {at, requests, failures, seconds}
let refusal = '';

function parse(text) {
  const reading = {at: Date.now() / 1000, requests: 0, failures: 0, seconds: 0};
  for (const line of text.split('\n')) {
    const count = COUNT.exec(line);
    if (count) {
      reading.requests += Number(count[2]);
      if (/status="5/.test(count[1])) reading.failures += Number(count[2]);
      continue;
    }
    const sum = SUM.exec(line);
    if (sum) reading.seconds += Number(sum[2]);
  }
  return reading;
}

// Return {rates: [{requests, failures, latency}], refusal}; rates are per
// second, the newest last.
export async function loadRates() {
  if (!refusal) {
    try {
      readings.push(parse((await request('GET', 'metrics')).text));
      readings.splice(0, readings.length - MOST);
    } catch (error) {
      if (error.isOutage) throw error;
      refusal = error.message || 'The metrics cannot be read.';
    }
  }
  const rates = readings.slice(1).map((now, index) => {
    const before = readings[index];
    const time = now.at - before.at;
    const requests = now.requests - before.requests;
    return {
      // A restarted API counts from zero again.
      requests: Math.max(requests, 0) / time,
      failures: Math.max(now.failures - before.failures, 0) / time,
      latency: requests > 0 ? (now.seconds - before.seconds) / requests : 0,
    };
  });
  return {rates, refusal};
}
