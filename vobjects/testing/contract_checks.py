# SPDX-License-Identifier: Apache-2.0
"""Check every response of a service against its contract.

If the HTTP client of a test suite calls :meth:`ContractChecker.check` with
each response, every test also tests the contract.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Any

import jsonschema_rs

from vobjects.contract.registry import Contract, Operation
from vobjects.versions import Version

#: Statuses that concern the path, the method or the version, not an operation.
_BEFORE_ANY = frozenset((404, 405, 406, 400, 401, 403))

#: Statuses that concern the transfer of a request, whatever the operation.
_TRANSFER = frozenset((408, 421))


class ContractChecker:
    """A contract, prepared for checking responses.

    :param contract: the contract of the service
    """

    def __init__(self, contract: Contract) -> None:
        self.contract = contract.accepted
        self._paths = [(_pattern(one), one) for one in contract.operations]
        self._validators = functools.cache(self._validator)

    def check(
        self,
        method: str,
        path: str,
        version: str,
        status: int,
        body: Any = None,
        key: str = '',
    ) -> None:
        """Assert that a response conforms to the contract.

        :param method: HTTP method of the request
        :param path: path of the request, decoded, without the query
        :param version: microversion from the response's header, ``X.Y``
        :param status: status of the response
        :param body: decoded JSON; None: the response has no body
        :param key: key of the requested action; empty: unknown or none
        :raises AssertionError: the response violates the contract
        """
        if status in _TRANSFER or method == 'OPTIONS':
            return
        path = self.contract.policy.canonical_path(path)
        at = Version.parse(version)
        if at not in self.contract.versions:
            if status != self.contract.policy.unsupported_status:
                raise AssertionError(f'{status} at {version}, which is not')
            return
        names = [
            one.name
            for one in self._found('GET' if method == 'HEAD' else method, path)
            if not key or not one.key or key == one.key
        ]
        shapes = self.contract.at(at)
        there = [name for name in names if name in shapes]
        if not there:
            missing = self.contract.policy.method_missing_status
            if status not in _BEFORE_ANY | {missing, 500, 503}:
                raise AssertionError(
                    f'{method} {path} is not there at {version}, and was'
                    f' answered with {status}'
                )
            return
        promised = [name for name in there if status in shapes[name].responses]
        if not promised:
            raise AssertionError(
                f'{there[0]} at {version} was answered with {status};'
                f' promised are {sorted(shapes[there[0]].responses)}'
            )
        if method != 'HEAD':
            self._check_body(promised[0], at, status, body)

    def _check_body(
        self, name: str, at: Version, status: int, body: Any
    ) -> None:
        validator = self._validators(name, at, status)
        about = f'{name} at {at}, {status}'
        if validator is None:
            if body is not None:
                raise AssertionError(f'{about}: a body where none is promised')
            return
        faults = [
            f'{fault.instance_path}: {fault.message}'
            for fault in validator.iter_errors(body)
        ]
        if faults:
            raise AssertionError(f'{about}: {"; ".join(faults)[:2000]}')

    def _validator(self, name: str, at: Version, status: int) -> Any:
        schema = self.contract.at(at)[name].responses[status]
        if schema is None:
            return None
        return jsonschema_rs.Draft202012Validator(
            dict(schema), validate_formats=True
        )

    def _found(self, method: str, path: str) -> Iterator[Operation]:
        """Yield the operations of the most literal matching path."""
        fits = [
            one
            for pattern, one in self._paths
            if one.method == method and pattern.fullmatch(path)
        ]
        fewest = min((one.path.count('{') for one in fits), default=0)
        for one in fits:
            if one.path.count('{') == fewest:
                yield one


def _pattern(one: Operation) -> re.Pattern[str]:
    if one.tag == 'discovery':
        # Its link to the major version has a slash at the end.
        return re.compile(re.escape(one.path.rstrip('/')) + '/?')
    return re.compile(re.sub(r'\\\{[^}]+\\\}', '[^/]+', re.escape(one.path)))
