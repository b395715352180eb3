# SPDX-License-Identifier: Apache-2.0
"""Actions: methods that a body's one key names, ``{"resize": {...}}``.

::

    class Clusters:
        @action('resize')
        @api_version('1.0')
        def resize(self, req, identity, body): ...

    act = Actions(Clusters())
    act(req, 'c1', body={'resize': {}})

The whole body is handed on, as to the methods of Nova.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from vobjects import exceptions
from vobjects.microversions import dispatch, errors

_ATTRIBUTE = '__vobjects_action__'

Method = TypeVar('Method', bound=Callable[..., Any])


def action(key: str) -> Callable[[Method], Method]:
    """Declare the key of an action; above ``api_version``."""

    def decorate(method: Method) -> Method:
        setattr(method, _ATTRIBUTE, key)
        return method

    return decorate


class Actions:
    """The actions of some controllers, called by the body's key.

    :raises vobjects.exceptions.DeclarationError: two have one key
    """

    def __init__(self, *controllers: object) -> None:
        self._by_key: dict[str, dispatch.Function] = {}
        for controller in controllers:
            for name, found in inspect.getmembers_static(type(controller)):
                key = getattr(found, _ATTRIBUTE, None)
                if key is not None:
                    self._add(key, getattr(controller, name))

    @property
    def methods(self) -> Mapping[str, dispatch.Function]:
        """The methods by the keys that name them."""
        return MappingProxyType(self._by_key)

    def __call__(
        self, request: Any, *arguments: Any, body: Any, **named: Any
    ) -> Any:
        """Do what the body names.

        :raises vobjects.microversions.errors.ValidationError: it names no
            action, or several
        :raises vobjects.microversions.errors.MethodNotAtVersion: other
            versions have the action
        """
        if not isinstance(body, dict):
            raise errors.ValidationError('body', 'must be a JSON object')
        version = dispatch.version_of(request)
        key = chosen(body, self._by_key, self._at(version))
        return self._by_key[key](request, *arguments, body=body, **named)

    def _at(self, version: Any) -> Iterable[str]:
        for key, method in self._by_key.items():
            try:
                dispatch.resolve(method, version)
            except errors.NegotiationError:
                continue
            yield key

    def _add(self, key: str, method: dispatch.Function) -> None:
        other = self._by_key.setdefault(key, method)
        if other is not method:
            raise exceptions.DeclarationError(
                f'action {key!r} is declared twice: {dispatch.place_of(other)}'
                f' and {dispatch.place_of(method)}'
            )


def chosen(
    body: dict[str, Any], known: Iterable[str], here: Iterable[str]
) -> str:
    """Return the key of the one action that a body names.

    :param known: keys of all versions
    :param here: those of the request's version, for messages
    :raises vobjects.microversions.errors.ValidationError: none, or several
    """
    if len(body) != 1:
        raise errors.ValidationError(
            'body',
            f'must name one action, not {len(body) or "none"}; known here:'
            f' {_listed(here)}',
        )
    (key,) = body
    if key not in known:
        raise errors.ValidationError(
            f'body[{exceptions.cut(key)}]',
            f'is no action; known here: {_listed(here)}',
        )
    return key


def _listed(keys: Iterable[str]) -> str:
    return ', '.join(map(repr, keys)) or 'none'
