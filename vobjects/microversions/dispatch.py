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
the same name) is for :func:`check`. A version is looked for once; then it is
a look into a dictionary, however many versions there are.

In the class, a plain function takes the place of all of them: calling it
costs little more than calling any method (:mod:`.calling`).
"""

from __future__ import annotations

import bisect
import functools
import inspect
import sys
import types
from collections.abc import Callable
from typing import Any

from vobjects import exceptions
from vobjects.microversions import calling, errors, facts, outcomes
from vobjects.microversions.policy import MICROVERSION, Policy
from vobjects.versions import NULL, Version

Function = Callable[..., Any]

#: Versions whose function is remembered; a service has far fewer.
_REMEMBERED = 10_000

#: Of a method: the :class:`Versioned` it was made of.
_ATTRIBUTE = '__vobjects_versioned__'


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
    taken, is the first argument; or one that is given here. When the class
    is made whose body it is in, it leaves a plain function there, which takes
    the request after ``self``; :func:`versioned_of` finds back. To those who
    look, either has the signature of the newest.
    """

    def __init__(
        self, module: str, qualname: str, request: Any = None
    ) -> None:
        self.__module__ = module
        self.__qualname__ = qualname
        self.__name__ = qualname.rpartition('.')[2]
        self.candidates: list[Candidate] = []
        self._request = request
        self._found: dict[Version, Function] = {}
        self._methods: list[Function] = []

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
        try:
            return self._found[version]
        except KeyError:
            pass
        function = self._search(version)
        if function is None:
            self._refuse_removed(version)
            raise errors.MethodNotAtVersion(
                self.__name__, version, self.ranges
            )
        if len(self._found) < _REMEMBERED:
            self._found[version] = function
        return function

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        request = self._request
        if request is None:
            request = self._first(arguments)
        return self.at(version_of(request))(*arguments, **named)

    def _search(self, version: Version) -> Function | None:
        after = bisect.bisect_right(
            self.candidates, version, key=lambda one: one.first
        )
        if not after:
            return None
        found = self.candidates[after - 1]
        if found.last is not None and version > found.last:
            return None
        return found.function

    def _refuse_removed(self, version: Version) -> None:
        """Say why, where the last of the functions was removed.

        :raises vobjects.microversions.outcomes.MethodRemoved: it was
        """
        ended = facts.facts_of(self.candidates[-1].function).removed
        if ended is not None:
            outcomes.refuse_removed(self.__name__, ended, version)

    def _first(self, arguments: tuple[Any, ...]) -> Any:
        try:
            return arguments[0]
        except IndexError:
            raise TypeError(
                f'{self.__qualname__} needs the request as a positional'
                ' argument'
            ) from None

    def __set_name__(self, owner: type, name: str) -> None:
        found = _open.pop((self.__module__, self.__qualname__), None)
        if found is self and self.__qualname__ != (
            f'{owner.__qualname__}.{name}'
        ):
            raise exceptions.DeclarationError(
                f'{owner.__qualname__}.{name}: a decorator below api_version'
                f' calls it {self.__qualname__}; let it use functools.wraps'
            )
        setattr(owner, name, self._method())

    def _method(self) -> Function:
        """Return the function that stands for this in a class."""
        if self._request is None:
            made = calling.method(
                [one.function for one in self.candidates],
                self._found,
                lambda request: self.at(version_of(request)),
            )
        else:

            def made(*arguments: Any, **named: Any) -> Any:
                return self(*arguments, **named)

        newest = self.candidates[-1].function
        functools.update_wrapper(made, newest, updated=())
        made.__name__, made.__qualname__ = self.__name__, self.__qualname__
        vars(made).update(
            self._noted(),
            # Pecan looks for it here, and does not follow __wrapped__.
            __signature__=inspect.signature(newest),
            **{_ATTRIBUTE: self},
        )
        self._methods.append(made)
        return made

    def _noted(self) -> dict[str, Any]:
        """Return the attributes that decorators above have set."""
        return {k: v for k, v in vars(self).items() if k not in _OWN}

    def is_behind(self, function: Function) -> bool:
        """Tell whether a function is one that this left in a class.

        What wraps such a function has its attributes, but does more.
        """
        return function in self._methods

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
        self._found.clear()

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


#: Attributes of every :class:`Versioned`.
_OWN = frozenset(vars(Versioned('', '')))

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
    versioned = versioned_of(handler)
    if versioned is None:
        return handler
    function = versioned.at(version)
    if isinstance(handler, types.MethodType):
        return types.MethodType(function, handler.__self__)
    return function


def versioned_of(handler: Function) -> Versioned | None:
    """Return all functions of a handler's name.

    :param handler: see :func:`resolve`
    :returns: None for a plain function
    """
    if isinstance(handler, Versioned):
        return handler
    function = getattr(handler, '__func__', handler)
    found: Versioned | None = getattr(function, _ATTRIBUTE, None)
    return found if found is not None and found.is_behind(function) else None


def check(policy: Policy, *handlers: Function) -> None:
    """Refuse functions that no request can reach; for a service's start.

    :param handlers: what the service routes to; hidden functions are looked
        for in their modules
    :raises vobjects.exceptions.DeclarationError: a range outside the
        policy's, a function hidden by a plain one of the same name, or a
        plain function that lacks a schema at some version
    """
    for handler in handlers:
        versioned = versioned_of(handler)
        if versioned is not None:
            for candidate in versioned.candidates:
                _check_reachable(policy, versioned, candidate)
        else:
            facts.facts_of(handler).check(
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
    versioned = versioned_of(handler)
    if versioned is not None:
        return f'{versioned.__qualname__} ({versioned.candidates[0].place})'
    return f'{handler.__qualname__} ({_place(handler)})'
