# SPDX-License-Identifier: Apache-2.0
"""Nova's API as OpenAPI documents, and Nova's own samples, which match them.

The API reference says which request or response a sample shows.
"""

import collections
import json
import pathlib
import re

import jsonschema
import nova.conf
import openapi_spec_validator
import pytest
from nova.api.validation import validators

from ports.nova.contract import contract
from vobjects.versions import Version
from vobjects_contract import openapi

ROOT = pathlib.Path(nova.__file__).parents[1]
SAMPLES = ROOT / 'doc' / 'api_samples'
REFERENCE = ROOT / 'api-ref' / 'source'

#: Samples that Nova rejects, or does not return -> the reason.
WRONG = {
    'os-server-external-events/event-create-req.json': 'test-event',
    # The templates of Nova's tests have networks, which 2.37 requires.
    'servers/v2.90/server-create-req.json': "'networks' is a required",
    'servers/v2.94/server-create-req.json': "'networks' is a required",
}

_STATEMENT = re.compile(
    r'.. rest_method:: (?P<method>\w+) (?P<path>\S*)'
    r'|(?P<part>Request|Response)$'
    r'|.. literalinclude:: \S*/doc/api_samples/(?P<sample>\S+\.json)'
)


@pytest.fixture(scope='module', autouse=True)
def _configuration():
    nova.conf.CONF([], project='nova', default_config_files=[])


@pytest.mark.parametrize('version', ['2.1', '2.60', '2.104'])
def test_document_is_valid_openapi(version):
    document = openapi.document(contract(), Version.parse(version))

    openapi_spec_validator.validate(json.loads(json.dumps(document)))
    assert len(document['paths']) > 60


def test_samples_match_the_schemas_of_their_versions():
    faults = {}
    checked = 0
    uses = _uses()
    for path in sorted(SAMPLES.rglob('*.json')):
        name = str(path.relative_to(SAMPLES))
        body = json.loads(path.read_text())
        schemas = [
            schema
            for use in uses[_kind(name)]
            for schema in _schemas(use, _version_of(name))
        ]
        if schemas:
            checked += 1
            found = [_fault(schema, body) for schema in schemas]
            if all(found):
                faults[name] = found[0]

    assert checked > 550
    assert faults.keys() == WRONG.keys()
    for name, reason in WRONG.items():
        assert reason in faults[name]


def _uses():
    """Return kind of sample -> (method, path, action, whether a request)."""
    uses = collections.defaultdict(set)
    files = set(REFERENCE.glob('*.inc'))
    # Its paths are not below /v2.1.
    files.remove(REFERENCE / 'versions.inc')
    for file in sorted(files):
        action = ''
        for statement in filter(None, map(_STATEMENT.match, file.open())):
            if statement['path'] is not None:
                method, path = statement['method'], statement['path']
            elif statement['part']:
                part = statement['part']
            else:
                name = statement['sample']
                is_request = _is_request(name, part)
                if path.endswith('/action') and is_request:
                    body = json.loads((SAMPLES / name).read_text())
                    (action,) = body
                key = action if path.endswith('/action') else ''
                uses[_kind(name)].add((method, path, key, is_request))
    return uses


def _is_request(name, part):
    suffix = re.search(r'-(req|resp)\.json$', name)
    return suffix[1] == 'req' if suffix else part == 'Request'


def _kind(name):
    """Return the folder and the name, which all versions of a sample have."""
    parts = name.split('/')
    return parts[0], parts[-1]


def _version_of(name):
    match = re.search(r'/v2\.(\d+)/', name)
    return Version(2, int(match[1]) if match else 1)


def _schemas(use, version):
    """Yield the schemas for a sample, if the version has the operation."""
    method, path, key, is_request = use
    for operation in contract().operations:
        if (operation.method, operation.key) != (method, key):
            continue
        if _pattern(operation.path) != _pattern(f'/v2.1{path}'):
            continue
        shape = contract().at(version).get(operation.name)
        if shape is None:
            continue
        if is_request:
            yield shape.body
        else:
            yield from (
                schema
                for status, schema in shape.responses.items()
                if status < 400
            )


def _pattern(path):
    return re.sub(r'{\w+}', '{}', path)


def _fault(schema, body):
    """Return why a schema rejects a body, or an empty text."""
    if schema is None:
        return 'has no body'
    validator = jsonschema.Draft202012Validator(
        schema, format_checker=validators._FORMAT_CHECKER
    )
    return next((each.message for each in validator.iter_errors(body)), '')
