# SPDX-License-Identifier: Apache-2.0
"""Declarations that decorators attach to a controller's method.

The first decorator wraps the method once. Further ones only add to its
:class:`Facts`, which tools read with :func:`facts_of`. The decorators are in
:mod:`~vobjects.controllers.validation` and
:mod:`~vobjects.controllers.responses`; write ``api_version`` above all of
them.

The request is the first argument, after ``self`` for a method. The decorators
validate the argument ``body``. A method with an argument ``query`` receives
the query string as a dictionary.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from vobjects import exceptions
from vobjects.controllers.ranges import Ranges, bound
from vobjects.versions import Version

if TYPE_CHECKING:
    from vobjects.controllers.responses import Removed
    from vobjects.controllers.validation import Checked

Function = Callable[..., Any]
Decorator = Callable[[Function], Function]

#: Attribute of a wrapped method: its :class:`Facts`.
ATTRIBUTE = '__vobjects_facts__'

#: WSGI environ key: if true, validate responses against their schemas. For
#: tests.
CHECK_ANSWERS = 'vobjects.check_answers'


@dataclasses.dataclass(slots=True)
class Facts:
    """The declarations of a method.

    :ivar bodies: schemas of the request body
    :ivar queries: schemas of the query
    :ivar answers: schemas of the response body
    :ivar successes: status of a success
    :ivar failures: statuses of errors
    :ivar removed: version in which the method was removed, and why
    :ivar experimental: whether only requests that opt in may call the method
    """

    bodies: Ranges[Checked] = dataclasses.field(
        default_factory=functools.partial(Ranges, 'request schema')
    )
    queries: Ranges[Checked] = dataclasses.field(
        default_factory=functools.partial(Ranges, 'query schema')
    )
    answers: Ranges[Checked] = dataclasses.field(
        default_factory=functools.partial(Ranges, 'response schema')
    )
    successes: Ranges[int] = dataclasses.field(
        default_factory=functools.partial(Ranges, 'success status')
    )
    failures: Ranges[frozenset[int]] = dataclasses.field(
        default_factory=functools.partial(Ranges, 'list of errors')
    )
    removed: Removed | None = None
    experimental: bool = False

    def check(self, first: Version, last: Version, owner: str) -> None:
        """Reject declarations that do not match the versions of a method.

        :param first: first version of the method
        :param last: last version; null: no end
        :param owner: the method and its place, for messages
        :raises vobjects.exceptions.DeclarationError: a gap or a mismatch; the
            message names both places
        """
        if self.removed is not None:
            ended = self.removed.version
            if ended <= first:
                raise exceptions.DeclarationError(
                    f'{owner} begins at {first}, but is removed at {ended}'
                )
            if ended.minor:
                before = Version(ended.major, ended.minor - 1)
                last = min(last, before) if last else before
        for one in (
            self.bodies,
            self.queries,
            self.answers,
            self.successes,
            self.failures,
        ):
            one.check_covers(first, last, owner)


def facts_of(function: Function) -> Facts:
    """Return the declarations of a method; empty without decorators."""
    found: Facts | None = getattr(function, ATTRIBUTE, None)
    return found or Facts()


def success(function: Function, version: Version, default: int = 200) -> int:
    """Return the status of a method's success at a version."""
    return facts_of(function).successes.at(version) or default


def declare(
    kind: str,
    value: Any,
    min_version: str | Version | None,
    max_version: str | Version | None,
) -> Decorator:
    """Return a decorator that adds a declaration to a method.

    :param kind: attribute of :class:`Facts`
    :param value: the declaration
    :param min_version: first version; None: no lower limit
    :param max_version: last version; None: no upper limit
    :raises vobjects.exceptions.InvalidVersion: a bound is not a version
    """
    first, last = bound(min_version), bound(max_version)
    frame = sys._getframe(2)  # place of the decorator in the source
    place = f'{frame.f_code.co_filename}:{frame.f_lineno}'

    def decorate(function: Function) -> Function:
        made = wrapped(function)
        ranges: Ranges[Any] = getattr(facts_of(made), kind)
        ranges.add(value, first, last, place)
        return made

    return decorate


def wrapped(function: Function) -> Function:
    """Return a method that enforces its declarations.

    :raises vobjects.exceptions.DeclarationError: ``api_version`` is below
    """
    if hasattr(function, ATTRIBUTE):
        return function
    if hasattr(function, 'candidates'):
        raise exceptions.DeclarationError(
            f'{function.__qualname__}: write api_version above the decorators'
            ' that say what the method takes and answers'
        )
    from vobjects.controllers import wrapper

    parameters = list(inspect.signature(function).parameters)
    request_at = int(parameters[:1] in (['self'], ['cls']))
    declared = Facts()
    keep = wrapper.Keeper(function, declared, parameters)

    @functools.wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        return keep(arguments[request_at], arguments, named)

    setattr(call, ATTRIBUTE, declared)
    return call
