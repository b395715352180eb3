# SPDX-License-Identifier: Apache-2.0
"""Sphinx directive that describes the operations of the REST API.

``.. rest-operations:: clusters`` describes the operations of one group, as
os-api-ref does: method and path, parameters, response, errors and an example.

- Operations, names, types, limits and microversions come from the OpenAPI
  documents of the service.
- ``api_parameters.yaml`` has one sentence about each parameter and field.
- ``api_samples.yaml`` has the examples, which a test records.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import pathlib
import re
from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus
from typing import Any

import yaml
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from api.contract import contract
from vobjects.versions import Version
from vobjects_contract import openapi
from vobjects_contract.registry import Contract

SOURCE = pathlib.Path(__file__).parents[1] / 'source'
PARAMETERS = SOURCE / 'api_parameters.yaml'
SAMPLES = SOURCE / 'api_samples.yaml'

#: Largest integer of the API, which is not worth mentioning.
_LARGEST = 2**31 - 1

_JSON = 'application/json'

Document = Mapping[str, Any]


class MissingText(Exception):
    """There is no text about a parameter, an operation or a group."""


@dataclasses.dataclass
class Part:
    """A parameter of a request, or a field of a response.

    :ivar place: ``path``, ``query``, ``body``, ``header`` or ``response``
    :ivar name: names from the outermost object to the field, such as
        ``clusters[].id``
    :ivar since: microversion that added it to its operation; None: the
        operation's own
    :ivar accepted: first microversion at which the service accepts or sends it
    :ivar until: last microversion that has it; None: the newest
    """

    place: str
    name: str
    schema: Document
    required: bool
    since: Version | None
    accepted: Version
    until: Version | None = None

    @property
    def key(self) -> str:
        """The last name, without brackets."""
        return self.name.removesuffix('[]').rpartition('.')[2]


@dataclasses.dataclass
class Operation:
    """An operation, with its parts at all microversions.

    :ivar name: as in :class:`vobjects_contract.registry.Operation`
    :ivar keys: keys of the action in the body; the first one is described
    :ivar parts: parts of the request and of the response, in order
    :ivar statuses: statuses of responses
    """

    name: str
    method: str
    path: str
    summary: str
    tag: str
    since: Version
    accepted: Version
    statuses: list[int]
    keys: list[str] = dataclasses.field(default_factory=list)
    until: Version | None = None
    deprecated: bool = False
    parts: dict[tuple[str, str], Part] = dataclasses.field(
        default_factory=dict
    )

    @property
    def names(self) -> list[str]:
        """The names in the contract, a name for each key."""
        if not self.keys:
            return [self.name]
        return [f'{self.method} {self.path} ({key})' for key in self.keys]


# From OpenAPI documents to operations


@functools.cache
def operations() -> list[Operation]:
    """Return the operations of all microversions of the service."""
    return operations_of(contract())


def operations_of(api: Contract) -> list[Operation]:
    """Return the operations of a contract."""
    found: dict[str, Operation] = {}
    newest = api.versions[-1]
    for version in reversed(api.versions):
        document = openapi.document(api, version)
        for operation in _Reader(document, version).operations():
            until = None if version == newest else version
            _merge(found, operation, until)
    return _without_aliases(found.values())


def _merge(
    found: dict[str, Operation], older: Operation, until: Version | None
) -> None:
    """Add an operation of an older microversion.

    :param until: that microversion; None: the newest
    """
    known = found.setdefault(older.name, older)
    if known is older:
        known.until = until
    known.accepted = older.accepted
    for key, part in older.parts.items():
        known_part = known.parts.setdefault(key, part)
        if known_part is part and known is not older:
            part.until = until
        known_part.accepted = part.accepted


def _without_aliases(found: Iterable[Operation]) -> list[Operation]:
    """Merge the actions that have the same path and summary."""
    merged: dict[tuple[str, str, str], Operation] = {}
    for operation in found:
        identity = operation.method, operation.path, operation.summary
        first = merged.setdefault(identity, operation)
        if first is not operation:
            first.keys += operation.keys
    return list(merged.values())


class _Reader:
    """Reads the operations of one OpenAPI document."""

    def __init__(self, document: Document, version: Version) -> None:
        self._document = document
        self._version = version

    def operations(self) -> Iterator[Operation]:
        for path, methods in self._document['paths'].items():
            for method, data in methods.items():
                yield from self._operations(method.upper(), path, data)

    def _operations(
        self, method: str, path: str, data: Document
    ) -> Iterator[Operation]:
        content = data.get('requestBody', {}).get('content')
        schema = content[_JSON]['schema'] if content else None
        bodies = [schema]
        has_keys = data[openapi.EXTENSION].get('discriminator') == 'action'
        if has_keys:
            bodies = (schema or {}).get('oneOf', bodies)
        for body in bodies:
            described = body if has_keys else data
            extension = described[openapi.EXTENSION]
            keys = [extension['action-name']] if has_keys else []
            yield Operation(
                name=' '.join((method, path, *(f'({key})' for key in keys))),
                method=method,
                path=path,
                summary=described['description' if has_keys else 'summary'],
                tag=data['tags'][0],
                since=self._since(described) or self._version,
                accepted=self._version,
                statuses=[int(status) for status in data['responses']],
                keys=keys,
                deprecated=data.get('deprecated', False),
                parts={
                    (part.place, part.name): part
                    for part in self._parts(data, body)
                },
            )

    def _parts(self, data: Document, body: Document | None) -> Iterator[Part]:
        """Yield the parts of an operation, but not its microversion."""
        for parameter in data['parameters']:
            if '$ref' not in parameter:
                yield self._part(parameter['in'], parameter['name'], parameter)
        if body is not None:
            yield from self._flat(body, 'body', '')
        for status, response in data['responses'].items():
            if int(status) >= 400:
                continue
            for name, header in response['headers'].items():
                if '$ref' not in header:
                    yield self._part('header', name, header)
            for content in response.get('content', {}).values():
                yield from self._flat(content['schema'], 'response', '')

    def _part(self, place: str, name: str, data: Document) -> Part:
        schema, required = data['schema'], data['required']
        since = self._since(data)
        return Part(place, name, schema, required, since, self._version)

    def _flat(
        self, schema: Document, place: str, prefix: str
    ) -> Iterator[Part]:
        """Yield the fields of an object, and those of objects in it."""
        schema = self._resolved(schema)
        properties = dict(schema.get('properties', {}))
        for pattern, subschema in schema.get('patternProperties', {}).items():
            # A name that the client chooses.
            properties[f'<{pattern or "name"}>'] = subschema
        for name, subschema in properties.items():
            inner = self._resolved(subschema)
            suffix = ''
            if 'items' in inner and self._has_fields(inner['items']):
                inner, suffix = self._resolved(inner['items']), '[]'
            if self._has_fields(inner):
                yield from self._flat(inner, place, f'{prefix}{name}{suffix}.')
                continue
            yield Part(
                place,
                f'{prefix}{name}',
                inner,
                name in schema.get('required', ()),
                self._since(subschema),
                self._version,
            )

    def _has_fields(self, schema: Document) -> bool:
        return bool(self._resolved(schema).get('properties'))

    def _resolved(self, schema: Document) -> Document:
        """Follow a reference; of several alternatives, take the first."""
        while True:
            if '$ref' in schema:
                name = schema['$ref'].rpartition('/')[2]
                schema = self._document['components']['schemas'][name]
            elif 'anyOf' in schema:
                schema = schema['anyOf'][0]
            else:
                return schema

    def _since(self, data: Document) -> Version | None:
        first = data.get(openapi.EXTENSION, {}).get('min-ver')
        return Version.parse(first) if first else None


# From operations to reStructuredText


def page(tag: str) -> str:
    """Return the description of a group of operations.

    :raises MissingText: there is no such group, or a file has no text about
        an operation or parameter
    """
    selected = [item for item in operations() if item.tag == tag]
    if not selected:
        raise MissingText(f'no operation has the tag {tag!r}')
    texts = yaml.safe_load(PARAMETERS.read_text())
    samples = yaml.safe_load(SAMPLES.read_text())
    lines = [f'* {_call(item)}: :ref:`{_label(item)}`' for item in selected]
    lines.append('')
    for operation in selected:
        lines += _described(operation, texts, samples)
    return '\n'.join(lines)


def _described(
    operation: Operation,
    texts: Mapping[str, str],
    samples: Mapping[str, Document],
) -> Iterator[str]:
    title = operation.summary.partition(';')[0]
    yield from (f'.. _{_label(operation)}:', '')
    yield from (title, '-' * len(title), '')
    yield from (f'.. rst-class:: rest-call rest-{operation.method}', '')
    yield from (_call(operation), '')
    if title != operation.summary:
        yield from (f'{operation.summary}.', '')
    ages = [_age(operation, contract().policy.minimum)]
    if operation.deprecated:
        ages.append('Deprecated.')
    yield from (' '.join(filter(None, ages)), '')
    parts = operation.parts.values()
    sent = [p for p in parts if p.place in ('path', 'query', 'body')]
    if sent:
        yield from ('.. rubric:: Request', '')
        yield from _table(operation, sent, texts)
    statuses = [status for status in operation.statuses if status < 400]
    for status in statuses:
        phrase = HTTPStatus(status).phrase
        yield from (f'.. rubric:: Response {status} ({phrase})', '')
    received = [p for p in parts if p.place in ('header', 'response')]
    if received:
        yield from _table(operation, received, texts)
    else:
        yield from ('The response has no body.', '')
    errors = [str(code) for code in operation.statuses if code >= 400]
    yield from (f':ref:`Errors <api-errors>`: {", ".join(errors)}', '')
    sample = next(
        (samples[name] for name in operation.names if name in samples), None
    )
    if sample is None:
        raise MissingText(
            f'{SAMPLES.name} has no example of {operation.name}; record it'
            ' with pytest --api-samples'
        )
    yield from _example(operation, sample)


def _table(
    operation: Operation, parts: Iterable[Part], texts: Mapping[str, str]
) -> Iterator[str]:
    yield from ('.. list-table::', '   :header-rows: 1')
    yield from ('   :class: rest-parts', '')
    rows = [('Name', 'In', 'Type', 'Description')]
    for part in parts:
        request = part.place in ('path', 'query', 'body')
        optional = ' (optional)' if request and not part.required else ''
        text = text_of(operation.tag, part, texts)
        facts = ' '.join(filter(None, (text, *_facts(operation, part))))
        place = 'body' if part.place == 'response' else part.place
        rows.append(
            (f'``{part.name}``{optional}', place, _type(part.schema), facts)
        )
    for row in rows:
        yield from (
            f'   {" " if column else "*"} - {cell}'
            for column, cell in enumerate(row)
        )
    yield ''


def text_of(tag: str, part: Part, texts: Mapping[str, str]) -> str:
    """Return the sentence about a part.

    :raises MissingText: there is none
    """
    keys = keys_of(tag, part)
    for key in keys:
        if key in texts:
            return texts[key]
    raise MissingText(
        f'{PARAMETERS.name} has no text about {part.name} ({part.place}) of'
        f' {tag}; add {keys[-1]!r}'
    )


def keys_of(tag: str, part: Part) -> list[str]:
    """Return the keys in ``api_parameters.yaml``, the first one counts."""
    return [
        f'{tag}.{part.place}.{part.name}',
        f'{tag}.{part.place}.{part.key}',
        f'{tag}.{part.key}',
        f'{part.place}.{part.key}',
        part.key,
    ]


def _type(schema: Document) -> str:
    """Return the type of a value, without null."""
    types = schema.get('type', 'string')
    names = [types] if isinstance(types, str) else list(types)
    if len(names) >= 6:
        return 'any'
    names = [name for name in names if name != 'null']
    if 'integer' in names and 'string' in names:
        # The text of a number is accepted, too.
        names.remove('string')
    if names == ['array']:
        return f'array of {_type(schema.get("items", {}))}s'
    text = ' or '.join(names)
    return f'{text} ({schema["format"]})' if 'format' in schema else text


def _facts(operation: Operation, part: Part) -> Iterator[str]:
    schema = part.schema
    values = schema.get('enum') or schema.get('items', {}).get('enum') or ()
    # Some values are accepted in any case.
    unique = {str(v).upper(): str(v) for v in reversed(values) if v}
    if unique:
        listed = ', '.join(f'``{v}``' for v in reversed(unique.values()))
        yield f'One of {listed}.'
    keys = re.match(r'\^\(([a-z_|]+)\)\(:asc', schema.get('pattern', ''))
    if keys:
        listed = ', '.join(f'``{key}``' for key in keys[1].split('|'))
        yield f'Keys: {listed}.'
    if 'minimum' in schema:
        yield f'At least {schema["minimum"]}.'
    if schema.get('maximum', _LARGEST) != _LARGEST:
        yield f'At most {schema["maximum"]}.'
    if schema.get('default') is not None:
        yield f'Default: ``{json.dumps(schema["default"])}``.'
    yield _age(part, operation.since)


def _age(described: Operation | Part, than: Version) -> str:
    """Return a sentence about microversions.

    :param than: microversion that needs no mention
    """
    sentences = []
    since = described.since or than
    if since > than:
        is_early = described.accepted < since
        early = '; :ref:`accepted before <early>`' if is_early else ''
        sentences.append(f'*New in* {since}{early}.')
    if described.until is not None:
        sentences.append(f'*Until* {described.until}.')
    return ' '.join(sentences)


def _example(operation: Operation, sample: Document) -> Iterator[str]:
    policy = contract().policy
    request = [
        f'{operation.method} {sample["path"]} HTTP/1.1',
        f'OpenStack-API-Version: {policy.service_type} {policy.maximum}',
    ]
    if 'body' in sample:
        request += _json(sample['body'])
    status = HTTPStatus(sample['status'])
    response = [f'HTTP/1.1 {status} {status.phrase}']
    if 'location' in sample:
        response.append(f'Location: {sample["location"]}')
    if 'response' in sample:
        response += _json(sample['response'])
    yield from ('.. rubric:: Example', '')
    for lines in (request, response):
        yield from ('.. code-block:: http', '   :class: rest-example', '')
        yield from (f'   {line}' for line in lines)
        yield ''


def _json(data: Any) -> list[str]:
    text = json.dumps(data, indent=2, ensure_ascii=False)
    return [f'Content-Type: {_JSON}', '', *text.splitlines()]


def _call(operation: Operation) -> str:
    call = f'``{operation.method}`` ``{operation.path}``'
    keys = ' or '.join(f'``{key}``' for key in operation.keys)
    return f'{call} with {keys}' if keys else call


def _label(operation: Operation) -> str:
    return '-'.join(re.findall('[a-z0-9_]+', f'rest {operation.name}'.lower()))


class RestOperations(SphinxDirective):
    """Insert the description of a group of operations."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return a section for each operation.

        :raises docutils.parsers.rst.DirectiveError: there is no such group,
            or a text is missing
        """
        for file in (PARAMETERS, SAMPLES):
            self.env.note_dependency(str(file))
        # The operations are spread over many modules.
        self.env.note_reread()
        try:
            text = page(self.arguments[0])
        except MissingText as error:
            raise self.error(str(error)) from None
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive('rest-operations', RestOperations)
    return {'parallel_read_safe': True}
