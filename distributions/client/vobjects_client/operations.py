# SPDX-License-Identifier: Apache-2.0
"""Declare the operations of a service."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Awaitable, Callable
from typing import (
    TYPE_CHECKING,
    Any,
    Generic,
    ParamSpec,
    TypeAlias,
    TypeVar,
    cast,
    overload,
)

from vobjects import objects

if TYPE_CHECKING:
    import httpx

Params = ParamSpec('Params')
Result = TypeVar('Result')
#: The HTTP client, which decides whether operations return awaitables.
Http = TypeVar('Http', bound='httpx.Client | httpx.AsyncClient')

#: The body of a request: a key around its fields, or a function of them.
Body = str | Callable[[dict[str, Any]], Any]


class Location(str):
    """The header ``Location`` of a response, as the result of an operation."""

    __slots__ = ()


class Operations(Generic[Http]):
    """A group of operations; a subclass declares them.

    :param call: calls an operation with the fields of its request
    """

    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call


@dataclasses.dataclass(frozen=True, slots=True)
class Operation(Generic[Params, Result]):
    """An operation of a group, which is a method of its instances.

    The attributes are the parameters of :func:`operation`.
    """

    method: str
    path: str
    request: type[objects.Request]
    response: Any
    body: Body
    result: str

    def __str__(self) -> str:
        return f'{self.method} {self.path}'

    @overload
    def __get__(
        self, group: Operations[httpx.Client], owner: Any = None
    ) -> Callable[Params, Result]: ...
    @overload
    def __get__(
        self, group: Operations[httpx.AsyncClient], owner: Any = None
    ) -> Callable[Params, Awaitable[Result]]: ...
    @overload
    def __get__(
        self, group: None, owner: Any = None
    ) -> Operation[Params, Result]: ...
    def __get__(self, group: Any, owner: Any = None) -> Any:
        if group is None:
            return self
        return functools.partial(group._call, self)


AnyOperation: TypeAlias = Operation[..., Any]


@overload
def operation(
    method: str,
    path: str,
    request: Callable[Params, objects.Request],
    *,
    body: Body = '',
) -> Operation[Params, None]: ...
@overload
def operation(
    method: str,
    path: str,
    request: Callable[Params, objects.Request],
    response: type[Result],
    *,
    body: Body = '',
    result: str = '',
) -> Operation[Params, Result]: ...
def operation(
    method: str,
    path: str,
    request: Callable[Params, objects.Request],
    response: Any = None,
    *,
    body: Body = '',
    result: str = '',
) -> Operation[Params, Any]:
    """Declare an operation.

    The fields that the path names go there. All others are in the query of a
    GET, HEAD or DELETE, and in the body of any other request.

    :param path: path below the base URL of the HTTP client, in which
        ``{name}`` stands for a field of the request
    :param request: type of the request
    :param response: type of the result: a resource, a list of a resource,
        ``dict[str, Any]`` for JSON data, :class:`Location`, or None
    :param body: the body of the request: a key around the object with the
        fields, or a function that returns the body for the fields, as JSON
        data; empty: the object itself
    :param result: key of the result in the body of the response; empty: the
        whole body
    """
    cls = cast('type[objects.Request]', request)
    return Operation(method, path, cls, response, body, result)
