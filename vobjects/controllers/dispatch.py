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

An instance of the controller then shows, during a request, the function of
that request's version, with its own signature and the attributes that other
decorators gave it. Frameworks that read those, such as Pecan and WSME, need no
change. If the request is an argument, :func:`resolve` returns that function.

Declare the ranges in any order. An overlap raises an error at the declaration.
:func:`~vobjects.controllers.dispatch_check.check` finds the faults that only
show later: a gap between two ranges, a range that the service never serves,
and a function replaced by a plain one of the same name. The result of a lookup
is cached, so that dispatch takes one dictionary access for any number of
versions.

Write ``api_version`` above other decorators. One above it is for the functions
of all versions, so write it above the last of them. Tools do not see the
ranges below a wrapper.

In a class, one plain function replaces all of them. In a subclass, any
function replaces all inherited ones.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any

from vobjects import exceptions
from vobjects.controllers.frameworks import (
    RequestAdapter as RequestAdapter,
)
from vobjects.controllers.frameworks import version_of
from vobjects.controllers.method_spec import ATTRIBUTE, spec_of
from vobjects.controllers.ranges import RangeEntry, RangeMap, bound
from vobjects.microversions import errors
from vobjects.microversions.version_policy import MICROVERSION
from vobjects.versions import Version

Function = Callable[..., Any]

#: Attribute of a generated method: the :class:`VersionedFunction` it belongs
#: to.
_ATTRIBUTE = '__vobjects_versioned__'


_DEFAULT_ADAPTER = RequestAdapter()


class VersionedFunction:
    """All functions of one name; a call dispatches to the right one.

    :func:`api_version` creates it. When its class is created, the instance
    replaces itself with a plain function, which takes the request after
    ``self``; :func:`versioned_of` returns the instance. If the framework has a
    proxy of the request, it stays in the class as a descriptor. Both show the
    signature of the newest function.
    """

    def __init__(
        self,
        module: str,
        qualname: str,
        adapter: RequestAdapter = _DEFAULT_ADAPTER,
    ) -> None:
        self.__module__ = module
        self.__qualname__ = qualname
        self.__name__ = qualname.rpartition('.')[2]
        self.functions: RangeMap[Function] = RangeMap(qualname)
        self._adapter = adapter
        self._methods: list[Function] = []
        #: Position of the request in calls of this instance: 1 if a decorator
        #: above ``api_version`` has wrapped it and passes ``self``.
        self._request_at = 0
        #: Names of the request in calls without positional arguments.
        self._request_names: tuple[str, ...] = ()

    def api_version(
        self,
        min_version: str | Version,
        max_version: str | Version | None = None,
    ) -> Callable[[Function], VersionedFunction]:
        """Add a function; see :func:`api_version`."""
        first, last = bound(min_version), bound(max_version)
        return lambda function: self._add(_entry(function, first, last))

    @property
    def newest(self) -> Function:
        """The function of the highest versions."""
        return self.functions.last.value

    def at(self, version: Version) -> Function:
        """Return the unbound function for a version.

        :raises vobjects.microversions.errors.MethodNotAtVersion: no function
            is declared for the version
        :raises vobjects.microversions.errors.MethodRemoved: the last
            function was removed in this version or before it
        """
        function = self.functions.at(version)
        if function is not None:
            return function
        removal = spec_of(self.newest).removal
        error: errors.NegotiationError = (
            errors.MethodNotAtVersion(
                self.__name__, version, self.functions.merged()
            )
            if removal is None or version < removal.version
            else removal.error(self.__name__)
        )
        as_exception = self._adapter.as_exception
        raise as_exception(error) if as_exception else error

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self._function_for(arguments, named)(*arguments, **named)

    def _function_for(
        self, arguments: tuple[Any, ...], named: Mapping[str, Any]
    ) -> Function:
        """Return the function for a call."""
        request = self._adapter.request
        if request is None:
            at = self._request_at
            request = (
                arguments[at]
                if at < len(arguments)
                else named[self._request_name(named, at)]
            )
        return self.at(self._adapter.version_of(request))

    def _request_name(self, named: Mapping[str, Any], position: int) -> str:
        """Return the name of the request among the arguments of a call.

        FastAPI and Nova pass all arguments by name.

        :param position: 1 if the functions take ``self`` before the request
        """
        if not self._request_names:
            self._request_names = tuple(
                [*inspect.signature(entry.value).parameters, '', ''][position]
                for entry in reversed([*self.functions])
            )
        for name in self._request_names:
            if name in named:
                return name
        raise TypeError(
            f'{self.__qualname__} needs the request as its first argument'
        )

    def __set_name__(self, owner: type, name: str) -> None:
        still_open = open_functions.pop(
            (self.__module__, self.__qualname__), None
        )
        if still_open is self and self.__qualname__ != (
            f'{owner.__qualname__}.{name}'
        ):
            raise exceptions.DeclarationError(
                f'{owner.__qualname__}.{name}: a decorator below api_version'
                f' calls it {self.__qualname__}; let it use functools.wraps'
            )
        method = self._method()
        if self._adapter.request is None:
            setattr(owner, name, method)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Return the method of the current request's version.

        Without a request, for example while a framework searches for
        controllers at startup, return a method that dispatches when called.
        """
        if not self._methods:  # a function of a module, assigned to a class
            return self
        if instance is None:
            return self._methods[-1]
        adapter = self._adapter
        try:
            version = adapter.version_of(adapter.request)
        except (LookupError, AttributeError):
            return types.MethodType(self._methods[-1], instance)
        return types.MethodType(self.at(version), instance)

    def _method(self) -> Function:
        """Return the function that replaces this instance in a class."""
        # A decorator above api_version is for the functions of all versions.
        added = {
            name: value
            for name, value in vars(self).items()
            if name not in _OWN_ATTRIBUTES
        }
        for entry in self.functions:
            attributes = vars(entry.value)
            attributes.update(added | attributes)
        method = self._dispatcher()
        newest = self.newest
        functools.update_wrapper(method, newest)
        vars(method).pop(ATTRIBUTE, None)
        method.__name__ = self.__name__
        method.__qualname__ = self.__qualname__
        vars(method).update(
            # Pecan reads this attribute and does not follow __wrapped__.
            __signature__=inspect.signature(newest),
            **{_ATTRIBUTE: self},
        )
        self._methods.append(method)
        return method

    def _dispatcher(self) -> Function:
        adapter = self._adapter
        if adapter.request is not None:
            return lambda *arguments, **named: self(*arguments, **named)
        is_standard = adapter.version_of is version_of
        cache = self.functions.cache if is_standard else {}

        name = ''  # of the request in the last call that named it

        def method(*arguments: Any, **named: Any) -> Any:
            nonlocal name
            # Most requests, without a call of another function.
            try:
                if name in named:  # a framework's object, as in Nova
                    environ = named[name].environ
                else:
                    request = arguments[1]
                    environ = (
                        request if type(request) is dict else request.environ
                    )
                function = cache[environ[MICROVERSION]]
            except (AttributeError, LookupError, TypeError):
                function = None
            if function is None:
                if len(arguments) > 1:
                    request = arguments[1]
                else:
                    name = self._request_name(named, 1)
                    request = named[name]
                function = self.at(adapter.version_of(request))
            return function(*arguments, **named)

        return method

    def __getattr__(self, name: str) -> Any:
        newest = self.newest
        # Computed on demand, because it takes longer than everything else.
        if name == '__signature__':
            return self._common_signature()
        # FastAPI resolves annotations with it.
        if name == '__globals__':
            return inspect.unwrap(newest).__globals__
        # Metaclasses read what decorators below api_version have attached.
        attributes = vars(newest)
        if name in attributes and name != ATTRIBUTE:
            return attributes[name]
        raise AttributeError(name)

    def _common_signature(self) -> inspect.Signature:
        """Return the signature with which a framework calls each function.

        FastAPI passes all parameters of the newest function by name.

        :raises vobjects.exceptions.DeclarationError: another function cannot
            be called so
        """
        newest = inspect.signature(self.newest)
        kinds = {parameter.kind for parameter in newest.parameters.values()}
        by_name = kinds <= {
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            inspect.Parameter.KEYWORD_ONLY,
        }
        # Frameworks may pass the arguments of methods by position.
        for entry in (
            self.functions if by_name and not self._request_at else ()
        ):
            try:
                inspect.signature(entry.value).bind(
                    **dict.fromkeys(newest.parameters)
                )
            except TypeError as error:
                raise exceptions.DeclarationError(
                    f'{self.__qualname__} {entry}: {error}; give it the'
                    f' parameters of {self.functions.last}: frameworks that'
                    ' read the signature pass them by name'
                ) from None
        return newest

    def __repr__(self) -> str:
        return f'<versioned {self.__module__}.{self.__qualname__}>'

    def _add(self, entry: RangeEntry[Function]) -> VersionedFunction:
        is_coroutine = inspect.iscoroutinefunction(entry.value)
        if is_coroutine != isinstance(self, VersionedCoroutineFunction):
            raise exceptions.DeclarationError(
                f'{self.__qualname__}: {entry} and {self.functions.last} must'
                ' both be coroutine functions, or neither'
            )
        self.functions.add(entry)
        self._request_names = ()
        code = _code_of(entry.value)
        first = code.co_varnames[:1] if code else ()
        self._request_at = int(first in (('self',), ('cls',)))
        return self


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
open_functions: dict[tuple[str, str], VersionedFunction] = {}


def api_version(
    min_version: str | Version,
    max_version: str | Version | None = None,
    *,
    request: Any = None,
    adapter: RequestAdapter | None = None,
) -> Callable[[Function], VersionedFunction]:
    """Declare the versions that a function or method serves.

    :param min_version: first version
    :param max_version: last version; None: no end
    :param request: proxy of the current request; None: the first argument is
        the request
    :param adapter: the same, with the source of the version and the form of
        errors, for a framework that has its own; replaces ``request``
    :raises vobjects.exceptions.DeclarationError: the range is empty, or
        overlaps another one, there is no function, or a decorator has wrapped
        an earlier function of this name
    :raises vobjects.exceptions.InvalidVersion: a bound is not a version
    """
    adapter = adapter or RequestAdapter(request)
    first, last = bound(min_version), bound(max_version)

    def add(function: Function) -> VersionedFunction:
        entry = _entry(function, first, last)
        key = (function.__module__, function.__qualname__)
        versioned = open_functions.get(key)
        if versioned is None or any(
            entry.location == other.location for other in versioned.functions
        ):
            # The first function; or the same source again, after a reload or
            # in a factory function.
            versioned = open_functions[key] = (
                VersionedCoroutineFunction
                if inspect.iscoroutinefunction(function)
                else VersionedFunction
            )(*key, adapter)
        try:
            # The class or module body, where the earlier functions are.
            earlier = sys._getframe(1).f_locals.get(function.__name__)
            _check_unwrapped(versioned, earlier)
            return versioned._add(entry)
        except exceptions.DeclarationError:
            del open_functions[key]
            raise

    return add


def _check_unwrapped(versioned: VersionedFunction, earlier: Any) -> None:
    """Reject a further function if the name has a wrapper of the others.

    :param earlier: the current object of this name; None: there is none
    """
    found = getattr(earlier, '__func__', earlier)  # of a static method
    if versioned.functions and found not in (None, versioned):
        raise exceptions.DeclarationError(
            f'{versioned.__qualname__}: another object of this name, such as'
            f' that of a decorator above api_version, hides'
            f' {versioned.functions.last}; write api_version above the'
            ' decorator, or the decorator above the last function only, where'
            ' it is for all versions'
        )


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
    # A wrapper of a generated function copies the attribute, but does more.
    is_generated = versioned is not None and function in versioned._methods
    return versioned if is_generated else None


def _entry(
    function: Function, first: Version, last: Version
) -> RangeEntry[Function]:
    if isinstance(function, (classmethod, staticmethod)) or not (
        callable(function) and hasattr(function, '__qualname__')
    ):
        raise exceptions.DeclarationError(
            'api_version is for functions, not for'
            f' {exceptions.cut(function)}; write @staticmethod above it, and'
            ' a method in place of a property, a class method or a partial'
            ' function'
        )
    entry = RangeEntry(function, first, last, _location_of(function))
    if not entry.first:
        raise exceptions.DeclarationError(
            f'{function.__qualname__} {entry} contains no version'
        )
    if hasattr(function, ATTRIBUTE):
        spec_of(function).check(
            entry.first, entry.last, f'{function.__qualname__} {entry}'
        )
    return entry


def _code_of(function: Function) -> types.CodeType | None:
    return getattr(inspect.unwrap(function), '__code__', None)


def _location_of(function: Function) -> str:
    code = _code_of(function)
    if code is None:
        return repr(function)
    return f'{code.co_filename}:{code.co_firstlineno}'


def location_of(handler: Function) -> str:
    """Return the name and the source location of a function."""
    versioned = versioned_of(handler)
    if versioned is not None:
        first = next(iter(versioned.functions))
        return f'{versioned.__qualname__} ({first.location})'
    return f'{handler.__qualname__} ({_location_of(handler)})'
