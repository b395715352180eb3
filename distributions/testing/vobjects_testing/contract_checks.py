# SPDX-License-Identifier: Apache-2.0
"""Check every response of a service against its contract.

If the HTTP client of a test suite calls :meth:`ContractChecker.check` with
each response, every test also tests the contract.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import jsonschema_rs

from vobjects.versions import Version

if TYPE_CHECKING:
    from vobjects_contract.registry import Contract, Operation

#: Statuses of requests that match no operation.
_NO_OPERATION = frozenset((404, 405, 406, 400, 401, 403))

#: Statuses that concern the transfer of a request, whatever the operation.
_TRANSFER = frozenset((408, 421))


class ContractChecker:
    """A contract, prepared for checking responses.

    :param contract: the contract of the service
    """

    def __init__(self, contract: Contract) -> None:
        self.contract = contract.accepted
        self._operations = [
            (_pattern(operation), operation)
            for operation in contract.operations
        ]
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
                raise AssertionError(
                    f'status {status} at the unsupported version {version}'
                )
            return
        names = [
            operation.name
            for operation in self._matching(
                'GET' if method == 'HEAD' else method, path
            )
            if not key or not operation.key or key == operation.key
        ]
        shapes = self.contract.at(at)
        available = [name for name in names if name in shapes]
        if not available:
            missing = self.contract.policy.method_missing_status
            if status not in _NO_OPERATION | {missing, 500, 503}:
                raise AssertionError(
                    f'{method} {path} does not exist at {version}, but the'
                    f' status is {status}'
                )
            return
        declaring = [
            name for name in available if status in shapes[name].responses
        ]
        if not declaring:
            raise AssertionError(
                f'{available[0]} at {version}: status {status} is not one of'
                f' {sorted(shapes[available[0]].responses)}'
            )
        if method != 'HEAD':
            self._check_body(declaring[0], at, status, body)

    def _check_body(
        self, name: str, at: Version, status: int, body: Any
    ) -> None:
        validator = self._validators(name, at, status)
        subject = f'{name} at {at}, status {status}'
        if validator is None:
            if body is not None:
                raise AssertionError(f'{subject}: the body must be empty')
            return
        errors = [
            f'{error.instance_path}: {error.message}'
            for error in validator.iter_errors(body)
        ]
        if errors:
            raise AssertionError(f'{subject}: {"; ".join(errors)[:2000]}')

    def _validator(self, name: str, at: Version, status: int) -> Any:
        schema = self.contract.at(at)[name].responses[status]
        if schema is None:
            return None
        return jsonschema_rs.Draft202012Validator(
            dict(schema), validate_formats=True
        )

    def _matching(self, method: str, path: str) -> Iterator[Operation]:
        """Yield the operations of the most literal matching path."""
        matches = [
            operation
            for pattern, operation in self._operations
            if operation.method == method and pattern.fullmatch(path)
        ]
        fewest = min((match.path.count('{') for match in matches), default=0)
        for match in matches:
            if match.path.count('{') == fewest:
                yield match


def _pattern(operation: Operation) -> re.Pattern[str]:
    if operation.tag == 'discovery':
        # Its link to the major version has a slash at the end.
        return re.compile(re.escape(operation.path.rstrip('/')) + '/?')
    return re.compile(
        re.sub(r'\\\{[^}]+\\\}', '[^/]+', re.escape(operation.path))
    )
