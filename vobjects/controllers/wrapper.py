# SPDX-License-Identifier: Apache-2.0
"""Enforce the declarations of a controller's method when it is called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vobjects import exceptions
from vobjects.controllers import dispatch, method_spec, responses
from vobjects.microversions import query
from vobjects.microversions.policy import EXPERIMENTAL
from vobjects.versions import Version


class Keeper:
    """Checks around the calls of one method.

    :param function: the method
    :param declared: its declarations
    :param parameters: names of the method's arguments
    """

    def __init__(
        self,
        function: method_spec.Function,
        declared: method_spec.Facts,
        parameters: Sequence[str],
    ) -> None:
        self._function = function
        self._facts = declared
        self._takes_query = 'query' in parameters
        self._body_at = (
            parameters.index('body') if 'body' in parameters else None
        )

    def __call__(
        self, request: Any, arguments: tuple[Any, ...], named: dict[str, Any]
    ) -> Any:
        """Validate the request, call the method, and check its outcome.

        :raises vobjects.microversions.errors.ValidationError: the body or the
            query is invalid
        :raises vobjects.controllers.responses.MethodRemoved: the version no
            longer has the method
        :raises vobjects.controllers.responses.ExperimentalMethod: the request
            does not opt in to experimental methods
        :raises vobjects.controllers.responses.UnexpectedError: the method
            raised an error that it does not declare
        """
        declared = self._facts
        version = dispatch.version_of(request)
        if declared.removed is not None:
            responses.refuse_removed(
                self._function.__name__, declared.removed, version
            )
        environ = dispatch.environ_of(request)
        if declared.experimental:
            responses.refuse_experimental(
                self._function.__name__, environ.get(EXPERIMENTAL)
            )
        if declared.bodies:
            self._check_body(version, arguments, named)
        if declared.queries:
            values = self._query(version, environ)
            if self._takes_query:
                named['query'] = values
        if not declared.failures:
            answer = self._function(*arguments, **named)
        else:
            try:
                answer = self._function(*arguments, **named)
            except Exception as error:
                expected = declared.failures.at(version) or frozenset()
                found = responses.judge(error, expected)
                if found is error:
                    raise
                raise found from error
        if declared.answers and environ.get(method_spec.CHECK_ANSWERS):
            self._check_answer(version, answer)
        return answer

    def _check_body(
        self,
        version: Version,
        arguments: tuple[Any, ...],
        named: Mapping[str, Any],
    ) -> None:
        if 'body' in named:
            body = named['body']
        elif self._body_at is not None and self._body_at < len(arguments):
            body = arguments[self._body_at]
        else:
            body = None
        checked = self._facts.bodies.at(version)
        if checked is not None:
            checked.check(body, 'body', version, self._facts.bodies)

    def _query(
        self, version: Version, environ: Mapping[str, Any]
    ) -> dict[str, Any]:
        checked = self._facts.queries.at(version)
        text = environ.get('QUERY_STRING') or ''
        pairs = query.pairs(text) if text else []
        if checked is None:
            return {}
        values = checked.read(pairs)
        checked.check(values, 'query', version, self._facts.queries)
        return values

    def _check_answer(self, version: Version, answer: Any) -> None:
        checked = self._facts.answers.at(version)
        fault = None if checked is None else checked.fault(answer)
        if fault:
            raise exceptions.VobjectsError(
                f'{self._function.__qualname__} answers at {version} what its'
                f' response schema does not allow: {fault}'
            )
