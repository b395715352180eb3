# SPDX-License-Identifier: Apache-2.0
"""What decorators say of a controller's method, as data.

The first decorator wraps the method once, whatever others follow; they only
add to its :class:`Facts`, which tools read: ``facts_of(method)``. The
decorators themselves are in :mod:`~vobjects.microversions.validation` and
:mod:`~vobjects.microversions.outcomes`; ``api_version`` goes above them all.

The request is the first argument, after ``self`` for a method. A validated
body is its argument ``body``; a method that has an argument ``query`` gets
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
from vobjects.microversions.ranges import Ranges, bound
from vobjects.versions import Version

if TYPE_CHECKING:
    from vobjects.microversions.outcomes import Removed
    from vobjects.microversions.validation import Checked

Function = Callable[..., Any]
Decorator = Callable[[Function], Function]

#: Of a method: its facts.
ATTRIBUTE = '__vobjects_facts__'

#: In a WSGI environ: true to hold answers against their schemas, as tests do.
CHECK_ANSWERS = 'vobjects.check_answers'


@dataclasses.dataclass(slots=True)
class Facts:
    """What was declared of a method.

    :ivar bodies: schemas of the request's body
    :ivar queries: schemas of the query
    :ivar answers: schemas of the response's body
    :ivar successes: statuses
    :ivar failures: statuses of errors
    :ivar removed: since when it is gone
    :ivar experimental: whether it is only for those who ask for such methods
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
        """Refuse what does not fit the versions that a method is for.

        :param last: null: there is no end
        :raises vobjects.exceptions.DeclarationError: naming both places
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
    """Return what was declared of a method; of an undecorated one, nothing."""
    found: Facts | None = getattr(function, ATTRIBUTE, None)
    return found or Facts()


def success(function: Function, version: Version, default: int = 200) -> int:
    """Return the status with which a method succeeds at a version."""
    return facts_of(function).successes.at(version) or default


def declare(
    kind: str,
    value: Any,
    min_version: str | Version | None,
    max_version: str | Version | None,
) -> Decorator:
    """Return a decorator that adds to a kind of facts.

    :raises vobjects.exceptions.InvalidVersion: a bound is no version
    """
    first, last = bound(min_version), bound(max_version)
    frame = sys._getframe(2)  # where the decorator is written
    place = f'{frame.f_code.co_filename}:{frame.f_lineno}'

    def decorate(function: Function) -> Function:
        made = wrapped(function)
        ranges: Ranges[Any] = getattr(facts_of(made), kind)
        ranges.add(value, first, last, place)
        return made

    return decorate


def wrapped(function: Function) -> Function:
    """Return a method that keeps what is declared of it.

    :raises vobjects.exceptions.DeclarationError: ``api_version`` is below
    """
    if hasattr(function, ATTRIBUTE):
        return function
    if hasattr(function, 'candidates'):
        raise exceptions.DeclarationError(
            f'{function.__qualname__}: write api_version above the decorators'
            ' that say what the method takes and answers'
        )
    from vobjects.microversions import keeping

    parameters = list(inspect.signature(function).parameters)
    request_at = int(parameters[:1] in (['self'], ['cls']))
    declared = Facts()
    keep = keeping.Keeper(function, declared, parameters)

    @functools.wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        return keep(arguments[request_at], arguments, named)

    setattr(call, ATTRIBUTE, declared)
    return call
