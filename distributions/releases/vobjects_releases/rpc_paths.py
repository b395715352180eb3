# SPDX-License-Identifier: Apache-2.0
"""Follow the paths through a function that sends RPC calls.

A client often removes an argument if ``can_send_version`` says that the peer
is older. Each path through a function therefore has its own arguments, its
version, and limits of the versions of its peers.
"""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from vobjects_releases.tree import Function, last_name

Version = tuple[int, int]

_VERSION = re.compile(r'\d{1,4}\.\d{1,4}', re.ASCII)

#: More paths than this through one function are not followed.
_MAXIMUM = 64


def parse_version(text: object) -> Version | None:
    """Return a version such as ``"1.2"``; ``None``: it is none."""
    if isinstance(text, str) and _VERSION.fullmatch(text):
        major, _, minor = text.partition('.')
        return int(major), int(minor)
    return None


@dataclasses.dataclass(frozen=True, slots=True)
class Arguments:
    """Names of arguments.

    :ivar complete: there are no others
    """

    names: frozenset[str] = frozenset()
    complete: bool = True


#: What is known of a variable: the versions of which the client sends the
#: newest that the peer supports, or names of arguments.
Value = tuple[Version, ...] | Arguments


@dataclasses.dataclass(frozen=True, slots=True)
class State:
    """A path up to a statement.

    :ivar values: what is known of variables
    :ivar least: the peers support this version
    :ivar below: the peers do not support this version
    """

    values: frozenset[tuple[str, Value]] = frozenset()
    least: Version | None = None
    below: Version | None = None

    def get(self, name: str) -> Value | None:
        """Return what is known of a variable."""
        return dict(self.values).get(name)

    def set(self, name: str, value: Value | None) -> State:
        """Return the state after an assignment."""
        values = dict(self.values)
        values.pop(name, None)
        if value is not None:
            values[name] = value
        return dataclasses.replace(self, values=frozenset(values.items()))

    def limited(self, version: Version, can_send: bool) -> State | None:
        """Return the state after a check of the peer's version.

        :returns: ``None`` if earlier checks contradict the result
        """
        least, below = self.least, self.below
        if can_send:
            least = max(least or version, version)
        else:
            below = min(below or version, version)
        if least and below and least[0] == below[0] and least >= below:
            return None
        return dataclasses.replace(self, least=least, below=below)


#: Receives each call on a path with the state before it.
Visit = Callable[[ast.Call, State], None]

#: Returns the value of a constant.
Constant = Callable[[ast.expr], object]


class Paths:
    """Follow all paths through a function."""

    def __init__(self, constant: Constant, visit: Visit) -> None:
        self._constant = constant
        self._visit = visit

    def follow(self, function: Function) -> None:
        """Visit the calls in a function."""
        self._block(function.body, {State(): None})

    # Statements

    def _block(
        self, body: Iterable[ast.stmt], states: Mapping[State, None]
    ) -> dict[State, None]:
        """Return the states after a block."""
        current = dict(states)
        for statement in body:
            following: dict[State, None] = {}
            for state in current:
                following |= dict.fromkeys(self._after(statement, state))
            current = dict.fromkeys(list(following)[:_MAXIMUM])
        return current

    def _after(self, statement: ast.stmt, state: State) -> Iterator[State]:
        match statement:
            case ast.If():
                self._visit_calls(statement.test, state)
                for result in (True, False):
                    limited = self._assume(statement.test, result, state)
                    if limited is not None:
                        body = statement.body if result else statement.orelse
                        yield from self._block(body, {limited: None})
            case ast.For() | ast.While() | ast.AsyncFor():
                yield state
                yield from self._block(statement.body, {state: None})
            case ast.With() | ast.AsyncWith():
                for item in statement.items:
                    self._visit_calls(item.context_expr, state)
                yield from self._block(statement.body, {state: None})
            case ast.Try():
                body = [*statement.body, *statement.orelse]
                ends = self._block(body, {state: None})
                for handler in statement.handlers:
                    ends |= self._block(handler.body, {state: None})
                yield from self._block(statement.finalbody, ends)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._block(statement.body, {state: None})
                yield state
            case ast.Return() | ast.Raise():
                self._visit_calls(statement, state)
            case _:
                self._visit_calls(statement, state)
                yield self._assigned(statement, state)

    def _visit_calls(self, node: ast.AST, state: State) -> None:
        for child in ast.walk(node):
            if isinstance(child, ast.Call):
                self._visit(child, state)

    def _assigned(self, statement: ast.stmt, state: State) -> State:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                return state.set(name, self.value(value, state))
            case ast.Assign(
                targets=[
                    ast.Subscript(
                        value=ast.Name(id=name), slice=ast.Constant(value=key)
                    )
                ]
            ):
                return self._with(state, name, {str(key)})
            case ast.Delete(targets=targets):
                for target in targets:
                    match target:
                        case ast.Subscript(
                            value=ast.Name(id=name),
                            slice=ast.Constant(value=key),
                        ):
                            state = self._without(state, name, str(key))
            case ast.Expr(
                value=ast.Call(
                    func=ast.Attribute(value=ast.Name(id=name), attr=method),
                    args=arguments,
                ) as call
            ):
                match method, arguments:
                    case 'pop', [ast.Constant(value=key), *_]:
                        return self._without(state, name, str(key))
                    case 'update', _:
                        added = self._arguments(call, state)
                        return self._with(
                            state, name, added.names, added.complete
                        )
        return state

    @staticmethod
    def _with(
        state: State, name: str, keys: Iterable[str], complete: bool = True
    ) -> State:
        match state.get(name):
            case Arguments(names=names, complete=known):
                value = Arguments(names | set(keys), known and complete)
                return state.set(name, value)
        return state

    @staticmethod
    def _without(state: State, name: str, key: str) -> State:
        match state.get(name):
            case Arguments(names=names, complete=complete):
                return state.set(name, Arguments(names - {key}, complete))
        return state

    # Expressions

    def value(self, node: ast.expr, state: State) -> Value | None:
        """Return what is known of the value of an expression."""
        match node:
            case ast.Name(id=name) if state.get(name) is not None:
                return state.get(name)
            case ast.Dict(keys=keys):
                return Arguments(
                    frozenset(
                        str(key.value)
                        for key in keys
                        if isinstance(key, ast.Constant)
                    ),
                    all(isinstance(key, ast.Constant) for key in keys),
                )
            case ast.IfExp(body=body, orelse=other):
                return self._versions([body, other], state)
            case ast.Tuple(elts=items) | ast.List(elts=items):
                return self._versions(items, state)
            case ast.Call(func=ast.Name(id='dict')):
                return self._arguments(node, state)
            case ast.Call(func=ast.Attribute(value=source, attr='copy')):
                return self.value(source, state)
            case ast.Call():
                inner = [*node.args, *(item.value for item in node.keywords)]
                return self._versions(inner, state) or self.receiver(
                    node.func, state
                )
        version = parse_version(self._constant(node))
        return (version,) if version else None

    def receiver(
        self, function: ast.expr, state: State
    ) -> tuple[Version, ...] | None:
        """Return the versions of the object whose method is called."""
        if isinstance(function, ast.Attribute):
            value = self.value(function.value, state)
            if isinstance(value, tuple):
                return value
        return None

    def _versions(
        self, nodes: Iterable[ast.expr], state: State
    ) -> tuple[Version, ...] | None:
        found: list[Version] = []
        for node in nodes:
            value = self.value(node, state)
            if isinstance(value, tuple):
                found += value
        return tuple(found) or None

    def _arguments(self, call: ast.Call, state: State) -> Arguments:
        """Return the keys of ``dict(...)`` or ``.update(...)``."""
        names: set[str] = set()
        complete = True
        sources = [
            *call.args,
            *(item.value for item in call.keywords if item.arg is None),
        ]
        for source in sources:
            value = self.value(source, state)
            if isinstance(value, Arguments):
                names |= value.names
                complete = complete and value.complete
            else:
                complete = False
        names.update(item.arg for item in call.keywords if item.arg)
        return Arguments(frozenset(names), complete)

    def keywords(
        self, call: ast.Call, ignored: frozenset[str], state: State
    ) -> Arguments:
        """Return the keyword arguments of a call, without the ignored."""
        found = self._arguments(
            ast.Call(func=call.func, args=[], keywords=call.keywords), state
        )
        return Arguments(found.names - ignored, found.complete)

    def _assume(
        self, test: ast.expr, result: bool, state: State
    ) -> State | None:
        """Return the state if a test has a result; ``None``: it cannot."""
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self._assume(operand, not result, state)
            case ast.BoolOp(op=operator, values=parts):
                if result == isinstance(operator, ast.And):
                    for part in parts:
                        limited = self._assume(part, result, state)
                        if limited is None:
                            return None
                        state = limited
            case ast.Call(func=function, args=[argument, *_]) if (
                last_name(function) == 'can_send_version'
            ):
                match self.value(argument, state):
                    case (version, *_):
                        return state.limited(version, result)
            case ast.Compare(
                left=ast.Name(id=name),
                ops=[ast.Eq() | ast.NotEq() as comparison],
                comparators=[other],
            ):
                known, compared = state.get(name), self.value(other, state)
                if isinstance(known, tuple) and isinstance(compared, tuple):
                    equal = result == isinstance(comparison, ast.Eq)
                    left = tuple(
                        item for item in known if (item in compared) == equal
                    )
                    return state.set(name, left) if left else None
        return state
