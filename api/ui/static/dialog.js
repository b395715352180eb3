// SPDX-License-Identifier: Apache-2.0
// A modal form. The browser keeps the focus inside and closes it with Escape.

import {html, useEffect, useRef, useState} from './preact-htm.js';
import {get} from './api.js';
import {words} from './elements.js';
import {SpecField} from './spec.js';

const MOST_OPTIONS = 500;

// fields: {name, label, type, value, min, max, options, optionsFrom, help,
// optional}; type: text, number, checkbox, select, spec.
export function Dialog({title, text, fields, confirm, danger, submit, close}) {
  const ref = useRef(null);
  const [error, setError] = useState('');
  const [busy, setBusy] = useState(false);
  useEffect(() => ref.current.showModal(), []);

  async function onSubmit(event) {
    event.preventDefault();
    setError('');
    setBusy(true);
    try {
      await submit(valuesOf(new FormData(event.target), fields));
      close();
    } catch (problem) {
      setBusy(false);
      setError(problem.message);
    }
  }

  return html`<dialog ref=${ref} aria-labelledby="dialog-title"
    onClose=${close}>
    <form onSubmit=${onSubmit}>
      <h2 id="dialog-title">${title}</h2>
      ${text && html`<p>${text}</p>`}
      ${fields.map((field) => html`<${Field} key=${field.name}
        field=${field} />`)}
      ${error && html`<p role="alert" class="notice bad">${error}</p>`}
      <div class="buttons">
        <button type="button" onClick=${() => ref.current.close()}
          >Cancel</button>
        <button class=${danger ? 'danger' : 'primary'} disabled=${busy}
          >${busy ? 'Sending…' : confirm}</button>
      </div>
    </form>
  </dialog>`;
}

function Field({field}) {
  if (field.type === 'spec') return html`<${SpecField} field=${field} />`;
  const id = `field-${field.name}`;
  const help = field.help && `${id}-help`;
  const note = field.help && html`<small id=${help}>${field.help}</small>`;
  if (field.type === 'checkbox') {
    return html`<label class="check" for=${id}><input id=${id}
      name=${field.name} type="checkbox" aria-describedby=${help} />
      ${field.label}</label>${note}`;
  }
  const common = {
    id, name: field.name, required: !field.optional,
    'aria-describedby': help,
  };
  const input = field.type === 'select'
    ? html`<${Select} field=${field} common=${common} />`
    // Not value: each poll renders again and would reset the user's input.
    : html`<input ...${common} type=${field.type} min=${field.min}
      max=${field.max} defaultValue=${field.value ?? ''}
      autocomplete="off" />`;
  return html`<label for=${id}>${field.label}${field.optional
    ? ' (optional)' : ''}${input}</label>${note}`;
}

function Select({field, common}) {
  const [options, setOptions] = useState(field.options || null);
  useEffect(() => {
    if (!field.optionsFrom) return;
    get(`v1/${field.optionsFrom}?sort=name&limit=${MOST_OPTIONS}`).then(
      (data) => setOptions(data[field.optionsFrom].map(
        (item) => [item.id, item.name])),
      () => setOptions([]));
  }, []);
  return html`<select ...${common}>
    ${field.optional && html`<option value="">default</option>`}
    ${!options ? html`<option value="">Loading…</option>`
      : !options.length && !field.optional
        ? html`<option value="">There are no ${words(field.optionsFrom)
          }; create one first.</option>`
        : options.map(([value, label]) => html`<option value=${value}
          >${label}</option>`)}
  </select>`;
}

function valuesOf(form, fields) {
  const values = {};
  for (const {name, type} of fields) {
    const value = form.get(name);
    if (type === 'checkbox') {
      values[name] = value !== null;
    } else if (type === 'number') {
      if (value !== '') values[name] = Number(value);
    } else if (type === 'spec') {
      values[name] = JSON.parse(value);
    } else if (value !== '') {
      values[name] = value;
    }
  }
  return values;
}
