# SPDX-License-Identifier: Apache-2.0
"""Find the routes of an HTTP API, as decorators of FastAPI declare them."""

from __future__ import annotations

import ast
import dataclasses
import functools
import re
from collections.abc import Iterator

from vobjects_releases.tree import Function, Module, Tree, last_name

_VERBS = frozenset(('get', 'post', 'put', 'patch', 'delete'))

#: Annotations of parameters that are part of a query or header.
_SIMPLE = frozenset(
    ('bool', 'date', 'datetime', 'float', 'int', 'str', 'UUID')
)

_PARAMETER = re.compile(r'\{(\w+)[^}]*\}')

#: Shorter segments of a path are in many texts.
_SHORTEST = 5


@dataclasses.dataclass(frozen=True, slots=True)
class Route:
    """A function that answers a request.

    :ivar path: with the prefix of its router
    :ivar required: parameters that a query or header must have
    """

    name: str
    verb: str
    path: str
    required: frozenset[str]
    module: Module
    location: str


class Routes:
    """The routes of a tree."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree

    @functools.cached_property
    def routes(self) -> dict[tuple[str, str], Route]:
        """The routes by verb and path, whose parameters have no name."""
        return {
            (route.verb, '/'.join(_segments(route.path))): route
            for module in self.tree.modules.values()
            for function in module.nodes.functions
            for route in _routes(module, function)
        }

    def calls(self, route: Route) -> bool:
        """Return whether another module has a text with a route's path.

        Either may lack the first segments of the other.
        """
        path = _segments(route.path)
        for segments in self._texts.get(path[-1], ()):
            length = min(len(segments), len(path))
            if (
                segments[-length:] == path[-length:]
                and length > 1
                and len(max(path[-length:], key=len)) >= _SHORTEST
            ):
                return True
        return False

    @functools.cached_property
    def _texts(self) -> dict[str, set[tuple[str, ...]]]:
        """The segments of texts with paths, by the last one."""
        found: dict[str, set[tuple[str, ...]]] = {}
        own = {route.module for route in self.routes.values()}
        for module in self.tree.modules.values():
            for text in _texts(module) if module not in own else ():
                if '/' in text:
                    segments = _segments(text)
                    found.setdefault(segments[-1], set()).add(segments)
        return found


def _texts(module: Module) -> Iterator[str]:
    """Yield the texts in a module, each f-string as one."""
    pending: list[ast.AST] = [module.body]
    while pending:
        node = pending.pop()
        text = _text(node)
        if text:
            yield text
        else:
            pending += ast.iter_child_nodes(node)


def _text(node: ast.AST) -> str:
    """Return a text, with ``{}`` for each of its values."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return ''.join(_text(part) or '{}' for part in parts)
    return ''


def _segments(path: str) -> tuple[str, ...]:
    return tuple(_PARAMETER.sub('{}', path.partition('?')[0]).split('/'))


def _routes(module: Module, function: Function) -> Iterator[Route]:
    for item in function.decorator_list:
        match item:
            case ast.Call(
                func=ast.Attribute(value=router, attr=verb),
                args=[ast.Constant(value=str(path)), *_],
            ) if verb in _VERBS and path[:1] in ('', '/'):
                path = _prefix(module, router) + path
                yield Route(
                    function.name,
                    verb,
                    path,
                    frozenset(_required(function))
                    - set(_PARAMETER.findall(path)),
                    module,
                    f'{module.path}:{function.lineno}',
                )


def _prefix(module: Module, router: ast.expr) -> str:
    """Return the argument ``prefix`` of the call that makes a router."""
    for item in module.body.body:
        match item:
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Call(keywords=keywords)
            ) if name == last_name(router):
                for keyword in keywords:
                    match keyword:
                        case ast.keyword(
                            arg='prefix', value=ast.Constant(value=str(text))
                        ):
                            return text
    return ''


def _parameters(
    function: Function,
) -> Iterator[tuple[ast.arg, ast.expr | None]]:
    """Yield the parameters with their defaults."""
    positional = [*function.args.posonlyargs, *function.args.args]
    defaults = function.args.defaults
    missing: list[ast.expr | None] = [None] * (len(positional) - len(defaults))
    yield from zip(positional, [*missing, *defaults], strict=True)
    yield from zip(
        function.args.kwonlyargs, function.args.kw_defaults, strict=True
    )


def _required(function: Function) -> Iterator[str]:
    """Yield the parameters that must be in a query or header."""
    for argument, default in _parameters(function):
        match default:
            case None:
                annotation = argument.annotation
                match annotation:
                    case ast.Subscript(
                        value=generic, slice=ast.Tuple(elts=[kind, *_])
                    ) if last_name(generic) == 'Annotated' and not any(
                        last_name(node) == 'Depends'
                        for node in ast.walk(annotation)
                    ):
                        annotation = kind
                if annotation and last_name(annotation) in _SIMPLE:
                    yield argument.arg
            case ast.Call(
                func=called, args=[ast.Constant(value=value), *_]
            ) if value is Ellipsis and last_name(called) in (
                'Header',
                'Query',
            ):
                yield argument.arg
