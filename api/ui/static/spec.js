// SPDX-License-Identifier: Apache-2.0
// The spec of a profile or a policy: a form made from the schema of its type,
// or the same in YAML. A hidden input has the spec in JSON.

import {html, useEffect, useRef, useState} from './preact-htm.js';
import {get} from './api.js';
import {words} from './elements.js';

// Its default schema reads 2016-10-14, the version of a Heat template, as a
// time.
const options = () => ({schema: globalThis.jsyaml.CORE_SCHEMA});
const fromYaml = (text) => globalThis.jsyaml.load(text, options());
const toYaml = (value) => globalThis.jsyaml.dump(value, options());

// Files of the openstack command have "version: 1.0", without quotes.
function withVersion(spec) {
  const {version} = spec;
  return typeof version === 'number'
    ? {...spec, version: Number.isInteger(version) ? `${version}.0`
      : String(version)} : spec;
}

const isMap = (value) => value !== null && typeof value === 'object'
  && !Array.isArray(value);

export function SpecField({field}) {
  const [types, setTypes] = useState(null); // [{name, version}]
  const [spec, setSpec] = useState({properties: {}});
  const [schema, setSchema] = useState(null);
  const [isText, setIsText] = useState(false);
  const [error, setError] = useState('');
  const chosen = `${spec.type}-${spec.version}`;
  const isKnown = Boolean(types?.some(
    ({name, version}) => `${name}-${version}` === chosen));

  useEffect(() => {
    Promise.all([get(`v1/${field.optionsFrom}`), import('./js-yaml.js')]).then(
      ([data]) => {
        const found = data[field.optionsFrom.replace('-', '_')];
        setTypes(found);
        if (found.length) choose(found[0]);
      },
      (problem) => setError(problem.message));
  }, []);
  useEffect(() => {
    setSchema(null);
    if (!isKnown) return;
    get(`v1/${field.optionsFrom}/${encodeURIComponent(chosen)}`).then(
      (data) => setSchema(Object.values(data)[0].schema),
      (problem) => setError(problem.message));
  }, [isKnown, chosen]);

  function choose({name, version}) {
    setSpec({type: name, version, properties: {}});
  }

  if (!types) {
    return html`<p class="empty" role="status">${error || 'Loading…'}</p>`;
  }
  const id = `field-${field.name}`;
  return html`
    <input type="hidden" name=${field.name} value=${JSON.stringify(spec)} />
    ${error && html`<p role="alert" class="notice bad">${error}</p>`}
    <div class="choices">
      ${!isText && html`<label for=${id}>${field.label}
        <select id=${id} onChange=${
          (event) => choose(types[event.target.value])}>
          ${!isKnown && html`<option selected disabled>choose</option>`}
          ${types.map(({name, version}, index) => html`<option value=${index}
            selected=${`${name}-${version}` === chosen}
            >${name}-${version}</option>`)}
        </select></label>`}
      <label class="check" for="${id}-yaml"><input type="checkbox"
        id="${id}-yaml" checked=${isText}
        onChange=${(event) => setIsText(event.target.checked)} />
        Edit as YAML</label>
    </div>
    ${isText ? html`<label for="${id}-text">Spec in YAML or JSON
        <${Yaml} id="${id}-text" rows="14" required isSpec value=${spec}
          change=${(value) => setSpec(withVersion(value))} /></label>`
      : schema ? html`<${Properties} key=${chosen} schema=${schema}
          values=${isMap(spec.properties) ? spec.properties : {}} path=${id}
          change=${(properties) => setSpec({...spec, properties})} />`
        : isKnown && html`<p class="empty" role="status">Loading the form…
          </p>`}`;
}

// A text area; invalid YAML prevents that the form is sent.
function Yaml({value, change, isSpec, ...attributes}) {
  const first = useRef(value === undefined ? '' : toYaml(value));
  function onInput({target}) {
    let read;
    let problem = '';
    try {
      read = fromYaml(target.value);
      if (isSpec && !isMap(read)) problem = 'Write "key: value" lines.';
    } catch (error) {
      problem = `This is not YAML: ${error.message}`;
    }
    target.setCustomValidity(problem);
    if (!problem) change(read ?? undefined);
  }
  // Not value: each poll renders again and would reset the user's input.
  return html`<textarea ...${attributes} spellcheck="false" defaultValue=${first.current}
    onInput=${onInput}></textarea>`;
}

// One control for each property; those that are not required can be opened.
function Properties({schema, values, change, path, isOptional}) {
  const all = Object.entries(schema);
  const needed = all.filter(([, {required}]) => required);
  const others = all.filter(([, {required}]) => !required);
  const control = ([name, property]) => html`<${Property} key=${name}
    name=${name} property=${property} path="${path}-${name}"
    value=${values[name]} required=${property.required && !isOptional}
    change=${(value) => {
      const {[name]: _, ...rest} = values;
      change(value === undefined ? rest : {...rest, [name]: value});
    }} />`;
  return html`${needed.map(control)}
    ${others.length > 0 && html`<details open=${!needed.length}>
      <summary>${needed.length ? 'More properties' : 'Properties'}</summary>
      <div class="properties">${others.map(control)}</div></details>`}`;
}

function Property({name, property, path, value, change, required}) {
  const {type, description, schema, constraints} = property;
  const help = `${path}-help`;
  const note = html`<small id=${help}>${description}</small>`;
  if (type === 'Map' && schema) {
    return html`<fieldset aria-describedby=${help}><legend>${words(name)}
      </legend>${note}<${Properties} schema=${schema}
      values=${isMap(value) ? value : {}} path=${path}
      isOptional=${!required} change=${(values) => change(
        Object.keys(values).length ? values : undefined)} /></fieldset>`;
  }
  const common = {id: path, required, 'aria-describedby': help};
  const allowed = type === 'Boolean' ? [true, false]
    : constraints?.find((rule) => rule.type === 'AllowedValues')?.constraint;
  const placeholder = property.default === undefined ? ''
    : `default: ${JSON.stringify(property.default)}`;
  let input;
  if (allowed && type !== 'List') {
    input = html`<select ...${common} onChange=${({target}) => change(
      allowed[target.selectedIndex - 1])}>
      <option value="">${placeholder || (required ? 'choose' : 'not set')
        }</option>
      ${allowed.map((option) => html`<option selected=${option === value}
        >${String(option)}</option>`)}</select>`;
  } else if (type === 'List' || type === 'Map') {
    input = html`<${Yaml} ...${common} rows="3" value=${value}
      placeholder="YAML: ${type === 'List' ? '- item' : 'key: value'}"
      change=${change} />`;
  } else {
    const isNumber = type !== 'String';
    input = html`<input ...${common} type=${isNumber ? 'number' : 'text'}
      step=${type === 'Number' ? 'any' : undefined} autocomplete="off"
      placeholder=${placeholder} defaultValue=${value ?? ''}
      onInput=${({target}) => change(target.value === '' ? undefined
        : isNumber ? Number(target.value) : target.value)} />`;
  }
  return html`<div class="property"><label for=${path}>${words(name)}${
    required ? '' : ' (optional)'}${input}</label>${note}</div>`;
}
