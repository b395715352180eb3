# SPDX-License-Identifier: Apache-2.0
"""Dispatch to functions of one name, each for a range of API versions.

::

    class Controller:
        @api_version('1.0', '1.4')
        def show(self, req, identity): ...

        @show.api_version('1.5')
        def show(self, req, identity): ...

You may also write ``@api_version('1.5')`` for the second function, as in Nova,
but linters then report a redefinition. Functions of a module work like
methods.

The request is the first argument. If a framework keeps the request in a
thread-local variable instead, as Flask and Pecan do, name it once::

    api_version = functools.partial(api_version, request=flask.request)

Declare the ranges oldest first, each beginning where the previous one ended.
An overlap or a gap raises an error at the declaration. :func:`check` finds the
faults that only show later: a range that the service never serves, and a
function replaced by a plain one of the same name. The result of a lookup is
cached, so that dispatch takes one dictionary access for any number of
versions.

In a class, one plain function replaces all of them.
"""

from __future__ import annotations

import bisect
import functools
import inspect
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any

from vobjects import exceptions
from vobjects.controllers.method_spec import ATTRIBUTE, spec_of
from vobjects.controllers.ranges import bound
from vobjects.controllers.version_request import version_of
from vobjects.microversions import errors
from vobjects.microversions.version_policy import MICROVERSION, VersionPolicy
from vobjects.versions import NULL, Version

Function = Callable[..., Any]

#: Maximum number of cached versions; a service has far fewer.
_MAX_CACHED = 10_000

#: Attribute of a generated method: the :class:`VersionedFunction` it belongs
#: to.
_ATTRIBUTE = '__vobjects_versioned__'


class Candidate:
    """A function with its range of versions and its source location."""

    __slots__ = ('first', 'function', 'last', 'location')

    def __init__(
        self, function: Function, first: Version, last: Version | None
    ) -> None:
        self.function = function
        self.first = first
        self.last = last
        self.location = _location_of(function)

    def __str__(self) -> str:
        end = self.last or 'later'
        return f'{self.first} to {end} ({self.location})'


class VersionedFunction:
    """All functions of one name; a call dispatches to the right one.

    :func:`api_version` creates it. The version comes from the request, which
    is the first argument unless ``request`` is given. When its class is
    created, the instance replaces itself with a plain function, which takes
    the request after ``self``; :func:`versioned_of` returns the instance. Both
    show the signature of the newest function.
    """

    def __init__(
        self, module: str, qualname: str, request: Any = None
    ) -> None:
        self.__module__ = module
        self.__qualname__ = qualname
        self.__name__ = qualname.rpartition('.')[2]
        self.candidates: list[Candidate] = []
        self._request = request
        self._cache: dict[Version, Function] = {}
        self._methods: list[Function] = []

    def api_version(
        self,
        min_version: str | Version,
        max_version: str | Version | None = None,
    ) -> Callable[[Function], VersionedFunction]:
        """Add a function; see :func:`api_version`."""

        def add(function: Function) -> VersionedFunction:
            self._add(_candidate(function, min_version, max_version))
            return self

        return add

    @property
    def ranges(self) -> tuple[errors.InclusiveRange, ...]:
        """The range of versions that have a function, as a tuple of one."""
        return ((self.candidates[0].first, self.candidates[-1].last),)

    def at(self, version: Version) -> Function:
        """Return the unbound function for a version.

        :raises vobjects.microversions.errors.MethodNotAtVersion: no function
            is declared for the version
        :raises vobjects.microversions.errors.MethodRemoved: the last
            function was removed in this version or before it
        """
        try:
            return self._cache[version]
        except KeyError:
            pass
        function = self._search(version)
        if function is None:
            removal = spec_of(self.candidates[-1].function).removal
            if removal is not None:
                removal.check(self.__name__, version)
            raise errors.MethodNotAtVersion(
                self.__name__, version, self.ranges
            )
        if len(self._cache) < _MAX_CACHED:
            self._cache[version] = function
        return function

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self._function_for(arguments, named)(*arguments, **named)

    def _function_for(
        self, arguments: tuple[Any, ...], named: Mapping[str, Any]
    ) -> Function:
        request = self._request
        if request is None:
            request = self._first_argument(arguments, named)
        return self.at(version_of(request))

    def _search(self, version: Version) -> Function | None:
        later = bisect.bisect_right(
            self.candidates, version, key=lambda candidate: candidate.first
        )
        if not later:
            return None
        candidate = self.candidates[later - 1]
        if candidate.last is not None and version > candidate.last:
            return None
        return candidate.function

    def _first_argument(
        self, arguments: tuple[Any, ...], named: Mapping[str, Any]
    ) -> Any:
        if arguments:
            return arguments[0]
        # FastAPI passes all arguments by name.
        name = next(iter(inspect.signature(self).parameters), '')
        try:
            return named[name]
        except KeyError:
            raise TypeError(
                f'{self.__qualname__} needs the request as its first argument'
            ) from None

    def __set_name__(self, owner: type, name: str) -> None:
        still_open = _open.pop((self.__module__, self.__qualname__), None)
        if still_open is self and self.__qualname__ != (
            f'{owner.__qualname__}.{name}'
        ):
            raise exceptions.DeclarationError(
                f'{owner.__qualname__}.{name}: a decorator below api_version'
                f' calls it {self.__qualname__}; let it use functools.wraps'
            )
        setattr(owner, name, self._method())

    def _method(self) -> Function:
        """Return the function that replaces this instance in a class."""
        method = self._dispatcher()
        newest = self.candidates[-1].function
        functools.update_wrapper(method, newest, updated=())
        method.__name__ = self.__name__
        method.__qualname__ = self.__qualname__
        vars(method).update(
            self._added_attributes(),
            # Pecan reads this attribute and does not follow __wrapped__.
            __signature__=inspect.signature(newest),
            **{_ATTRIBUTE: self},
        )
        self._methods.append(method)
        return method

    def _dispatcher(self) -> Function:
        cache = self._cache

        def method(
            instance: Any, request: Any, /, *rest: Any, **named: Any
        ) -> Any:
            # Most requests, without a call of version_of().
            try:
                environ = request if type(request) is dict else request.environ
                function = cache[environ[MICROVERSION]]
            except (AttributeError, LookupError, TypeError):
                function = None
            if function is None:
                function = self.at(version_of(request))
            return function(instance, request, *rest, **named)

        def method_with_proxy(*arguments: Any, **named: Any) -> Any:
            return self._function_for(arguments, named)(*arguments, **named)

        return method if self._request is None else method_with_proxy

    def _added_attributes(self) -> dict[str, Any]:
        """Return the attributes set by decorators above ``api_version``."""
        return {
            name: value
            for name, value in vars(self).items()
            if name not in _OWN_ATTRIBUTES
        }

    def has_created(self, function: Function) -> bool:
        """Return whether this instance created a function for a class.

        A wrapper of such a function copies its attributes, but does more.
        """
        return function in self._methods

    def __getattr__(self, name: str) -> Any:
        newest = self.candidates[-1].function
        # Computed on demand, because it takes longer than everything else.
        if name == '__signature__':
            return inspect.signature(newest)
        # FastAPI resolves annotations with it.
        if name == '__globals__':
            return inspect.unwrap(newest).__globals__
        raise AttributeError(name)

    def __repr__(self) -> str:
        return f'<versioned {self.__module__}.{self.__qualname__}>'

    def _add(self, candidate: Candidate) -> None:
        if self.candidates:
            self._check_order(self.candidates[-1], candidate)
            self._check_kind(candidate)
        self.candidates.append(candidate)
        self._cache.clear()

    def _check_kind(self, candidate: Candidate) -> None:
        is_coroutine = inspect.iscoroutinefunction(candidate.function)
        if is_coroutine != isinstance(self, VersionedCoroutineFunction):
            raise exceptions.DeclarationError(
                f'{self.__qualname__}: {candidate} and'
                f' {self.candidates[0]} must both be coroutine functions, or'
                ' neither'
            )

    def _check_order(self, before: Candidate, after: Candidate) -> None:
        if before.last is None or after.first <= before.last:
            raise exceptions.DeclarationError(
                f'{self.__qualname__}: {after} overlaps {before}; declare the'
                ' oldest first, each with its last version'
            )
        nexts = (
            Version(before.last.major, before.last.minor + 1),
            Version(before.last.major + 1, 0),
        )
        if after.first not in nexts:
            raise exceptions.DeclarationError(
                f'{self.__qualname__}: nothing serves the versions between'
                f' {before} and {after}; begin the second at {nexts[0]}'
            )


class VersionedCoroutineFunction(VersionedFunction):
    """Coroutine functions of one name, such as handlers of ASGI frameworks.

    Frameworks recognize it by its ``__call__``, and methods as such.
    """

    async def __call__(self, *arguments: Any, **named: Any) -> Any:
        return await self._function_for(arguments, named)(*arguments, **named)

    def _dispatcher(self) -> Function:
        dispatch = super()._dispatcher()

        async def method(*arguments: Any, **named: Any) -> Any:
            return await dispatch(*arguments, **named)

        return method


#: Attributes of every :class:`VersionedFunction`.
_OWN_ATTRIBUTES = frozenset(vars(VersionedFunction('', '')))

#: Versioned functions whose module or class body may still add ranges. The
#: entry of a class body is removed when its class is created, so that running
#: the body again starts afresh.
_open: dict[tuple[str, str], VersionedFunction] = {}


def api_version(
    min_version: str | Version,
    max_version: str | Version | None = None,
    *,
    request: Any = None,
) -> Callable[[Function], VersionedFunction]:
    """Declare the versions that a function or method serves.

    :param min_version: first version
    :param max_version: last version; None: no end
    :param request: proxy of the current request; None: the first argument is
        the request
    :raises vobjects.exceptions.DeclarationError: the range is empty, or there
        is an overlap or a gap
    :raises vobjects.exceptions.InvalidVersion: a bound is not a version
    """

    def add(function: Function) -> VersionedFunction:
        candidate = _candidate(function, min_version, max_version)
        key = (function.__module__, function.__qualname__)
        versioned = _open.get(key)
        if (
            versioned is None
            or versioned.candidates[0].location == candidate.location
        ):
            # The first function; or the same source again, after a reload or
            # in a factory function.
            versioned = _open[key] = (
                VersionedCoroutineFunction
                if inspect.iscoroutinefunction(function)
                else VersionedFunction
            )(*key, request)
        try:
            versioned._add(candidate)
        except exceptions.DeclarationError:
            del _open[key]
            raise
        return versioned

    return add


def resolve(handler: Function, version: Version) -> Function:
    """Return the function that serves a version.

    A plain function serves all versions.

    :param handler: a function, a :class:`VersionedFunction`, or a method bound
        to either
    :raises vobjects.microversions.errors.MethodNotAtVersion: no function
        serves the version
    """
    versioned = versioned_of(handler)
    if versioned is None:
        return handler
    function = versioned.at(version)
    if isinstance(handler, types.MethodType):
        return types.MethodType(function, handler.__self__)
    return function


def versioned_of(handler: Function) -> VersionedFunction | None:
    """Return the :class:`VersionedFunction` of a handler.

    :param handler: see :func:`resolve`
    :returns: None for a plain function
    """
    if isinstance(handler, VersionedFunction):
        return handler
    function = getattr(handler, '__func__', handler)
    versioned: VersionedFunction | None = getattr(function, _ATTRIBUTE, None)
    if versioned is None or not versioned.has_created(function):
        return None
    return versioned


def check(policy: VersionPolicy, *handlers: Function) -> None:
    """Reject functions that no request can reach; call it at startup.

    :param policy: version policy of the service
    :param handlers: handlers that the service routes to; their modules are
        searched for hidden functions
    :raises vobjects.exceptions.DeclarationError: a range lies outside the
        policy's, a plain function of the same name hides another one, or a
        plain function lacks a schema at some version
    """
    for handler in handlers:
        versioned = versioned_of(handler)
        if versioned is not None:
            for candidate in versioned.candidates:
                _check_reachable(policy, versioned, candidate)
        else:
            spec_of(handler).check(
                policy.minimum, policy.maximum, location_of(handler)
            )
    modules = {handler.__module__ for handler in handlers}
    for (module, qualname), versioned in _open.items():
        if module in modules and _is_hidden(module, qualname, versioned):
            raise exceptions.DeclarationError(
                f'{module}.{qualname}: {versioned.candidates[0]} is hidden'
                ' by another object of the same name; decorate that one'
                ' with api_version too'
            )


def _check_reachable(
    policy: VersionPolicy, versioned: VersionedFunction, candidate: Candidate
) -> None:
    if candidate.first > policy.maximum or (
        candidate.last is not None and candidate.last < policy.minimum
    ):
        raise exceptions.DeclarationError(
            f'{versioned.__qualname__}: {candidate} is unreachable; the'
            f' service serves {policy.minimum} to {policy.maximum}'
        )


def _is_hidden(
    module: str, qualname: str, versioned: VersionedFunction
) -> bool:
    owner, _, name = qualname.rpartition('.')
    if owner.endswith('<locals>'):
        return False  # held by the caller of the enclosing function
    if owner:
        return True  # defined in the class body, but replaced before its end
    return getattr(sys.modules.get(module), name, None) is not versioned


def _candidate(
    function: Function,
    min_version: str | Version,
    max_version: str | Version | None,
) -> Candidate:
    first = bound(min_version)
    last = bound(max_version) or None
    if not first or (last is not None and last < first):
        raise exceptions.DeclarationError(
            f'{function.__qualname__} ({_location_of(function)}): {first} to'
            f' {last} contains no version'
        )
    candidate = Candidate(function, first, last)
    if hasattr(function, ATTRIBUTE):
        spec_of(function).check(
            first, last or NULL, f'{function.__qualname__} {candidate}'
        )
    return candidate


def _location_of(function: Function) -> str:
    code = getattr(inspect.unwrap(function), '__code__', None)
    if code is None:
        return repr(function)
    return f'{code.co_filename}:{code.co_firstlineno}'


def location_of(handler: Function) -> str:
    """Return the name and the source location of a function."""
    versioned = versioned_of(handler)
    if versioned is not None:
        return f'{versioned.__qualname__} ({versioned.candidates[0].location})'
    return f'{handler.__qualname__} ({_location_of(handler)})'
