# SPDX-License-Identifier: Apache-2.0
"""Several functions of one name, each for a range of API versions.

::

    class Controller:
        @api_version('1.0', '1.4')
        def show(self, req, identity): ...

        @show.api_version('1.5')
        def show(self, req, identity): ...

The second may also say ``@api_version('1.5')``, as in the seeds; linters then
take it for a redefinition. Functions of a module work like methods.

The request is the first argument. In a framework that has it elsewhere
instead, in a variable of the thread as Flask and Pecan do, that is said once::

    api_version = functools.partial(api_version, request=flask.request)

Ranges are declared oldest first, each beginning where the one before ended.
An overlap or a gap is an error where it is written; what can only be known
later (a range the service never serves, a function lost to a plain one of
the same name) is for :func:`check`. Choosing a function indexes a tuple: the
time does not depend on the number of versions.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
from collections.abc import Callable
from typing import Any

from vobjects import exceptions
from vobjects.microversions import errors, facts, outcomes
from vobjects.microversions.policy import MICROVERSION, Policy
from vobjects.versions import NULL, Version

Function = Callable[..., Any]

#: Highest minor that may end a range: a table has a place for each.
MAX_MINOR = 9999


def version_of(request: Any) -> Version:
    """Return the negotiated version of a request.

    :param request: a WSGI environ; or an object with an ``environ`` (or, as
        Falcon's, an ``env``), or with a ``version_request`` (seed 001)
    :raises LookupError: nothing negotiated it
    """
    version = environ_of(request).get(MICROVERSION)
    if version is None:
        version = getattr(request, 'version_request', None)
    if not isinstance(version, Version):
        raise LookupError(
            'the request has no API version; put the Microversions'
            ' middleware in front of the application'
        )
    return version


def environ_of(request: Any) -> Any:
    """Return the WSGI environ of a request, of whatever framework.

    :param request: see :func:`version_of`
    """
    if isinstance(request, dict):
        return request
    found = getattr(request, 'environ', None)
    return getattr(request, 'env', {}) if found is None else found


def is_supported(
    request: Any,
    min_version: str | Version | None = None,
    max_version: str | Version | None = None,
) -> bool:
    """Tell whether the request's version lies in a range (seed 004).

    :param request: see :func:`version_of`
    :param min_version: lowest version; None: no restriction
    :param max_version: highest version; None: no restriction
    :raises vobjects.exceptions.InvalidVersion: a bound is no version
    """
    return version_of(request).matches(
        _bound(min_version), _bound(max_version)
    )


@functools.lru_cache(maxsize=512)
def _bound(version: str | Version | None) -> Version:
    if version is None:
        return NULL
    return Version.parse(version) if isinstance(version, str) else version


class Candidate:
    """One of the functions, with its range and its place in the source."""

    __slots__ = ('first', 'function', 'last', 'place')

    def __init__(
        self, function: Function, first: Version, last: Version | None
    ) -> None:
        self.function = function
        self.first = first
        self.last = last
        self.place = _place(function)

    def __str__(self) -> str:
        end = self.last or 'later'
        return f'{self.first} to {end} ({self.place})'


class Versioned:
    """All functions of one name; calling it calls the right one.

    Made by :func:`api_version`. The request, from which the version is
    taken, is the first argument, after ``self`` for a method; or one that is
    given here. To those who look, it has the signature of the newest.
    """

    def __init__(
        self, module: str, qualname: str, request: Any = None
    ) -> None:
        self.__module__ = module
        self.__qualname__ = qualname
        self.__name__ = qualname.rpartition('.')[2]
        self.candidates: list[Candidate] = []
        self._request = request
        # For each major, functions by minor; the last one repeats.
        self._tables: dict[int, list[Function | None]] = {}
        self._in_class = False

    def api_version(
        self,
        min_version: str | Version,
        max_version: str | Version | None = None,
    ) -> Callable[[Function], Versioned]:
        """Add the decorated function; see the function of this name."""

        def add(function: Function) -> Versioned:
            self._add(_candidate(function, min_version, max_version))
            return self

        return add

    @property
    def ranges(self) -> tuple[errors.Range, ...]:
        """The versions that have a function, oldest first, joined."""
        return ((self.candidates[0].first, self.candidates[-1].last),)

    def at(self, version: Version) -> Function:
        """Return the function for a version, unbound.

        :raises vobjects.microversions.errors.MethodNotAtVersion: none is
        """
        major, minor = version
        table = self._tables.get(major)
        if table is None:
            newest = self.candidates[-1]
            function = (
                newest.function
                if newest.last is None and version > newest.first
                else None
            )
        else:
            function = table[minor] if minor < len(table) else table[-1]
        if function is None:
            self._refuse_removed(version)
            raise errors.MethodNotAtVersion(
                self.__name__, version, self.ranges
            )
        return function

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        request = self._request
        if request is None:
            request = self._first(arguments)
        return self.at(version_of(request))(*arguments, **named)

    def _refuse_removed(self, version: Version) -> None:
        """Say why, where the last of the functions was removed.

        :raises vobjects.microversions.outcomes.MethodRemoved: it was
        """
        ended = facts.facts_of(self.candidates[-1].function).removed
        if ended is not None:
            outcomes.refuse_removed(self.__name__, ended, version)

    def _first(self, arguments: tuple[Any, ...]) -> Any:
        try:
            return arguments[self._in_class]
        except IndexError:
            raise TypeError(
                f'{self.__qualname__} needs the request as a positional'
                ' argument'
            ) from None

    def __set_name__(self, owner: type, name: str) -> None:
        self._in_class = True
        found = _open.pop((self.__module__, self.__qualname__), None)
        if found is self and self.__qualname__ != (
            f'{owner.__qualname__}.{name}'
        ):
            raise exceptions.DeclarationError(
                f'{owner.__qualname__}.{name}: a decorator below api_version'
                f' calls it {self.__qualname__}; let it use functools.wraps'
            )

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        return types.MethodType(self, instance)

    def __getattr__(self, name: str) -> Any:
        # Made when somebody looks: it takes longer than all the rest.
        if name == '__signature__':
            return inspect.signature(self.candidates[-1].function)
        raise AttributeError(name)

    def __repr__(self) -> str:
        return f'<versioned {self.__module__}.{self.__qualname__}>'

    def _add(self, candidate: Candidate) -> None:
        if self.candidates:
            self._check_follows(self.candidates[-1], candidate)
        self.candidates.append(candidate)
        self._extend_tables(candidate)

    def _extend_tables(self, candidate: Candidate) -> None:
        function, first, last = (
            candidate.function,
            candidate.first,
            candidate.last,
        )
        table = self._tables.setdefault(first.major, [])
        del table[first.minor :]  # what repeated after the one before
        table += [None] * (first.minor - len(table))
        if last is None:
            table.append(function)
            return
        for major in range(first.major, last.major):
            self._tables.setdefault(major, []).append(function)
        table = self._tables.setdefault(last.major, [])
        table += [function] * (last.minor + 1 - len(table))
        table.append(None)

    def _check_follows(self, before: Candidate, now: Candidate) -> None:
        if before.last is None or now.first <= before.last:
            raise exceptions.DeclarationError(
                f'{self.__qualname__}: {now} overlaps {before}; declare the'
                ' oldest first, and say where each ends'
            )
        nexts = (
            Version(before.last.major, before.last.minor + 1),
            Version(before.last.major + 1, 0),
        )
        if now.first not in nexts:
            raise exceptions.DeclarationError(
                f'{self.__qualname__}: nothing serves the versions between'
                f' {before} and {now}; begin the second at {nexts[0]}'
            )


#: Names whose module or class body may still add functions. A class body
#: leaves when its class is made, so that running it again starts afresh.
_open: dict[tuple[str, str], Versioned] = {}


def api_version(
    min_version: str | Version,
    max_version: str | Version | None = None,
    *,
    request: Any = None,
) -> Callable[[Function], Versioned]:
    """Declare the versions a function or method is for.

    :param min_version: the first version
    :param max_version: the last version; None: no end
    :param request: stands for the request of whoever calls; None: the first
        argument does
    :raises vobjects.exceptions.DeclarationError: overlap, gap, empty range
    :raises vobjects.exceptions.InvalidVersion: a bound is no version
    """

    def add(function: Function) -> Versioned:
        candidate = _candidate(function, min_version, max_version)
        key = (function.__module__, function.__qualname__)
        found = _open.get(key)
        if found is None or candidate.place == found.candidates[0].place:
            # New; or the same source run again, by a reload or a factory.
            found = _open[key] = Versioned(*key, request)
        try:
            found._add(candidate)
        except exceptions.DeclarationError:
            del _open[key]
            raise
        return found

    return add


def resolve(handler: Function, version: Version) -> Function:
    """Return what serves a version: a plain function serves all of them.

    :param handler: a function, a :class:`Versioned`, or a bound one
    :raises vobjects.microversions.errors.MethodNotAtVersion: nothing does
    """
    if isinstance(handler, Versioned):
        return handler.at(version)
    inner = getattr(handler, '__func__', None)
    if isinstance(inner, Versioned):
        owner = handler.__self__  # type: ignore[attr-defined]
        bound: Function = types.MethodType(inner.at(version), owner)
        return bound
    return handler


def check(policy: Policy, *handlers: Function) -> None:
    """Refuse functions that no request can reach; for a service's start.

    :param handlers: what the service routes to; hidden functions are looked
        for in their modules
    :raises vobjects.exceptions.DeclarationError: a range outside the
        policy's, a function hidden by a plain one of the same name, or a
        plain function that lacks a schema at some version
    """
    for handler in handlers:
        versioned = getattr(handler, '__func__', handler)
        if isinstance(versioned, Versioned):
            for candidate in versioned.candidates:
                _check_reachable(policy, versioned, candidate)
        else:
            facts.facts_of(versioned).check(
                policy.minimum, policy.maximum, place_of(handler)
            )
    modules = {handler.__module__ for handler in handlers}
    for (module, qualname), versioned in _open.items():
        if module in modules and _is_lost(module, qualname, versioned):
            raise exceptions.DeclarationError(
                f'{module}.{qualname}: {versioned.candidates[0]} is hidden'
                ' by another object of the same name; decorate that one'
                ' with api_version too'
            )


def _check_reachable(
    policy: Policy, versioned: Versioned, candidate: Candidate
) -> None:
    if candidate.first > policy.maximum or (
        candidate.last is not None and candidate.last < policy.minimum
    ):
        raise exceptions.DeclarationError(
            f'{versioned.__qualname__}: {candidate} is never reached; the'
            f' service has {policy.minimum} to {policy.maximum}'
        )


def _is_lost(module: str, qualname: str, versioned: Versioned) -> bool:
    owner, _, name = qualname.rpartition('.')
    if owner.endswith('<locals>'):
        return False  # whoever called the enclosing function holds it
    if owner:
        return True  # made in a class body, but not there when it ended
    return getattr(sys.modules.get(module), name, None) is not versioned


def _candidate(
    function: Function,
    min_version: str | Version,
    max_version: str | Version | None,
) -> Candidate:
    first = _bound(min_version)
    last = _bound(max_version) or None
    if not first or (last is not None and last < first):
        raise exceptions.DeclarationError(
            f'{function.__qualname__} ({_place(function)}): no version lies'
            f' between {first} and {last}'
        )
    if max(first.minor, last.minor if last else 0) > MAX_MINOR:
        raise exceptions.DeclarationError(
            f'{function.__qualname__} ({_place(function)}): minor versions'
            f' end at {MAX_MINOR}; leave the maximum out for no end'
        )
    candidate = Candidate(function, first, last)
    if hasattr(function, facts.ATTRIBUTE):
        facts.facts_of(function).check(
            first, last or NULL, f'{function.__qualname__} {candidate}'
        )
    return candidate


def _place(function: Function) -> str:
    code = getattr(inspect.unwrap(function), '__code__', None)
    if code is None:
        return repr(function)
    return f'{code.co_filename}:{code.co_firstlineno}'


def place_of(handler: Function) -> str:
    """Return the name of a function, and where its source is."""
    found = getattr(handler, '__func__', handler)
    if isinstance(found, Versioned):
        return f'{found.__qualname__} ({found.candidates[0].place})'
    return f'{found.__qualname__} ({_place(found)})'
