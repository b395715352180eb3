# SPDX-License-Identifier: Apache-2.0
"""Actions: dispatch by the only key of a body, ``{"resize": {...}}``.

::

    class Clusters:
        @action('resize')
        @api_version('1.0')
        def resize(self, req, identity, body): ...

    act = Actions(Clusters())
    act(req, 'c1', body={'resize': {}})

The method receives the whole body, as in Nova.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from vobjects import exceptions, phrases
from vobjects.controllers import dispatch
from vobjects.controllers.frameworks import version_of
from vobjects.microversions import errors
from vobjects.versions import Version

_ATTRIBUTE = '__vobjects_action__'

Method = TypeVar('Method', bound=Callable[..., Any])


def action(key: str) -> Callable[[Method], Method]:
    """Declare the key of an action; write it above ``api_version``."""

    def decorate(method: Method) -> Method:
        setattr(method, _ATTRIBUTE, key)
        return method

    return decorate


class Actions:
    """The actions of one or more controllers, called by the body's key.

    :raises vobjects.exceptions.DeclarationError: two actions have the same key
    """

    def __init__(self, *controllers: object) -> None:
        self._by_key: dict[str, dispatch.Function] = {}
        for controller in controllers:
            for name, member in inspect.getmembers_static(type(controller)):
                key = getattr(member, _ATTRIBUTE, None)
                if key is None:
                    continue
                method = getattr(controller, name)
                first = self._by_key.setdefault(key, method)
                if first is not method:
                    raise exceptions.DeclarationError(
                        f'action {key!r} is declared twice:'
                        f' {dispatch.location_of(first)} and'
                        f' {dispatch.location_of(method)}'
                    )

    @property
    def methods(self) -> Mapping[str, dispatch.Function]:
        """The methods by their keys."""
        return MappingProxyType(self._by_key)

    def __call__(
        self, request: Any, *arguments: Any, body: Any, **named: Any
    ) -> Any:
        """Call the action that the body names.

        :raises vobjects.microversions.errors.ValidationError: the body names
            no known action, or several
        :raises vobjects.microversions.errors.MethodNotAtVersion: only other
            versions have the action
        """
        if not isinstance(body, dict):
            raise errors.ValidationError('body', 'must be a JSON object')
        version = version_of(request)
        key = action_key(body, self._by_key, self._keys_at(version))
        return self._by_key[key](request, *arguments, body=body, **named)

    def _keys_at(self, version: Version) -> Iterable[str]:
        for key, method in self._by_key.items():
            try:
                dispatch.resolve(method, version)
            except errors.NegotiationError:
                continue
            yield key


def action_key(
    body: dict[str, Any], known: Iterable[str], available: Iterable[str]
) -> str:
    """Return the key of the single action that a body names.

    :param known: keys of all versions
    :param available: keys of the request's version, for messages
    :raises vobjects.microversions.errors.ValidationError: the body names no
        known action, or several
    """
    if len(body) != 1:
        raise errors.ValidationError(
            'body',
            f'must name one action, not {len(body) or "none"}; known here:'
            f' {phrases.format_values(available)}',
        )
    (key,) = body
    if key not in known:
        raise errors.ValidationError(
            phrases.format_path('body', [key]),
            f'unknown action; {phrases.not_one_of(key, tuple(available))}',
        )
    return key
