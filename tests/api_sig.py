# SPDX-License-Identifier: Apache-2.0
"""Check the documents that the API-SIG guidelines require.

The schemas of :mod:`vobjects_contract.standard_schemas` follow the guidelines
on errors, microversions and version discovery, and correct two of their
mistakes. The guidelines limit a microversion to two digits on each side and
allow any character between them, so that Nova's 2.104 does not match. They
also define ``links`` as one link instead of a list. Unknown keys are allowed:
every service has some.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jsonschema

from vobjects_contract.standard_schemas import ERROR, MAJOR


def _with_key(key: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    return {'type': 'object', 'properties': {key: schema}, 'required': [key]}


#: Other keys of the body of an error are those of a service.
_ERRORS = ERROR['properties']['errors']

_VERSIONS = {'type': 'array', 'minItems': 1, 'items': MAJOR}


def assert_error_document(
    body: Mapping[str, Any],
    status: int | None = None,
    headers: Mapping[str, str] | None = None,
) -> None:
    """Assert that a body is a complete and consistent error document.

    :param body: the decoded response body
    :param status: status of the response; each status in the body must match
    :param headers: headers of the response; the request id must match
    :raises AssertionError: the message names the problem
    """
    _assert(_with_key('errors', _ERRORS), body)
    item = body['errors'][0]
    service, _, rest = item['code'].partition('.')
    _require(bool(service and rest), f'code {item["code"]!r} has no service')
    rels = {link['rel'] for link in item['links']}
    _require('help' in rels, "no link with rel 'help'")
    if status is not None:
        _require(
            item['status'] == status,
            f'the body has status {item["status"]}, the response {status}',
        )
    if item['status'] == 406:
        _require(
            {'min_version', 'max_version'} <= item.keys()
            or 'unsupported' not in item['code'],
            'status 406 without min_version and max_version',
        )
    if headers is not None and 'request_id' in item:
        lower = {name.lower(): value for name, value in headers.items()}
        _require(
            lower.get('x-openstack-request-id') == item['request_id'],
            f'request id {item["request_id"]!r} is not the response header',
        )
    if 'error' in body:
        _assert_senlin_keys(body)


def assert_versions_document(body: Mapping[str, Any]) -> None:
    """Assert that a body is the versions document of ``/``.

    :param body: the decoded response body
    :raises AssertionError: the message names the problem
    """
    _assert(_with_key('versions', _VERSIONS), body)


def assert_version_document(body: Mapping[str, Any]) -> None:
    """Assert that a body is the document of a major version.

    :param body: the decoded response body
    :raises AssertionError: the message names the problem
    """
    _assert(_with_key('version', MAJOR), body)


def _assert_senlin_keys(body: Mapping[str, Any]) -> None:
    """Check that Senlin's keys agree with the error document."""
    status = body['errors'][0]['status']
    error = body['error']
    _require(body.get('code') == status, "'code' is not the status")
    _require(error.get('code') == status, "'error.code' is not the status")
    for name in ('message', 'type'):
        value = error.get(name)
        _require(bool(value), f"'error.{name}' is missing or empty")


def _assert(schema: Mapping[str, Any], body: Mapping[str, Any]) -> None:
    errors = [
        f'{error.json_path}: {error.message}'
        for error in jsonschema.Draft202012Validator(schema).iter_errors(body)
    ]
    _require(not errors, '; '.join(errors))


def _require(condition: bool, message: str) -> None:
    # Raised explicitly: pytest does not rewrite assert statements outside of
    # test files, and python -O removes them.
    if not condition:
        raise AssertionError(message)
