# SPDX-License-Identifier: Apache-2.0
"""Find the RPC methods of a release, and the calls that its clients send."""

from __future__ import annotations

import ast
import dataclasses
import functools
import re
from collections.abc import Iterable, Iterator

from vobjects_releases import rpc_paths
from vobjects_releases.rpc_paths import Arguments, Paths, State, Version
from vobjects_releases.tree import (
    Class,
    Function,
    Tree,
    is_name,
    last_name,
)

#: Methods and functions that send: ``call``, ``_cast``, ``fanout_cast``.
_SENDS = re.compile(r'_*(\w+_)?(call|cast)(_\w+)?')

#: Names of the first argument of a method that a dispatcher calls.
_CONTEXT = re.compile(r'_*\w*(context|ctxt|ctx|cntxt)', re.IGNORECASE)

_CLIENT = re.compile(r'api|rpc|client|proxy')

#: In the names of modules of RPC code, such as ``oslo_messaging``.
_MESSAGES = re.compile(r'messaging|rpc')

_NAME = re.compile(r'[a-z_]\w*', re.ASCII)


@dataclasses.dataclass(frozen=True, slots=True)
class Signature:
    """The arguments of a method, without its context.

    :ivar accepts_any: it has ``**kwargs``
    :ivar reads_any: it reads them
    """

    names: frozenset[str]
    required: frozenset[str]
    accepts_any: bool = False
    reads_any: bool = False

    def problems(self, sent: Arguments) -> tuple[str, ...]:
        """Say why a call with these arguments fails."""
        found = []
        if not self.accepts_any:
            found += [
                f'does not accept {name!r}'
                for name in sorted(sent.names - self.names)
            ]
        if sent.complete:
            found += [
                f'requires {name!r}'
                for name in sorted(self.required - sent.names)
            ]
        return tuple(found)


@dataclasses.dataclass(frozen=True, slots=True)
class Send:
    """A call on one path of a client.

    :ivar client: qualified name of the class that sends it
    :ivar caller: the method of this class
    :ivar versions: it has the first one that the peer supports; empty:
        unknown
    :ivar least: the client sends it only to peers with this version
    :ivar below: the client sends it only to peers without this version
    """

    client: str
    caller: str
    method: str
    arguments: Arguments
    versions: tuple[Version, ...]
    least: Version | None
    below: Version | None
    location: str

    def reaches(self, peer: Version | None) -> bool:
        """Return whether a peer of a version may get the call."""
        if peer is None:
            return True
        if self.least and not is_compatible(peer, self.least):
            return False
        return not (self.below and is_compatible(peer, self.below))


def is_rpc(module: str) -> bool:
    """Return whether a module has code for RPC, by its name."""
    return bool(_MESSAGES.search(module))


def is_compatible(supported: Version, requested: Version) -> bool:
    """Return whether a server dispatches a call with a version."""
    return supported[0] == requested[0] and supported[1] >= requested[1]


@dataclasses.dataclass(frozen=True, slots=True)
class Endpoint:
    """A class whose methods a server exposes.

    :ivar version: of its target; ``None``: unknown
    """

    cls: Class
    name: str
    version: Version | None


class Rpc:
    """The servers and clients of a tree."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.sends = tuple(dict.fromkeys(_sends(tree)))
        #: Clients, whose methods only look like those of servers.
        self._clients = {send.client for send in self.sends}
        self._targets: dict[str, list[Endpoint]] = {}
        self._others: dict[str, list[Endpoint]] = {}
        wanted = {send.method for send in self.sends}
        for name, cls in tree.classes.items():
            if name in self._clients:
                continue
            is_target, version = _target(tree, cls)
            table = self._targets if is_target else self._others
            for method, (_, function) in tree.methods(cls).items():
                if is_target or (method in wanted and _has_context(function)):
                    endpoint = Endpoint(cls, name, version)
                    table.setdefault(method, []).append(endpoint)

    def endpoints(self, method: str) -> list[Endpoint]:
        """Return the classes that may serve a method.

        Those with a target, else any with a method of that name whose first
        argument is a context.
        """
        return self._targets.get(method) or self._others.get(method, [])

    def signature(self, endpoint: Endpoint, method: str) -> Signature:
        """Return the signature of a method of an endpoint.

        :raises KeyError: it has no such method
        """
        return _signature(self.tree.methods(endpoint.cls)[method][1])

    def version(self, cls: Class) -> Version | None:
        """Return the version of a class's target, if it is known."""
        return _target(self.tree, cls)[1]

    @functools.cached_property
    def called(self) -> frozenset[str]:
        """Names of methods that the tree calls on clients.

        A client is a variable or attribute such as ``rpcapi``,
        ``compute_api`` or ``client``.
        """
        return frozenset(
            node.func.attr
            for module in self.tree.modules.values()
            for node in module.nodes.calls
            if isinstance(node.func, ast.Attribute)
            and _CLIENT.search(_receiver_name(node.func.value).lower())
        )

    def steps(self, certain: bool) -> dict[str, frozenset[str]]:
        """The methods of RPC clients that each method calls.

        :param certain: only those that it calls under no condition
        """
        return {
            f'{name}.{function.name}': frozenset(
                _client_calls(
                    _certain(function.body) if certain else [function]
                )
            )
            for name, cls in self.tree.classes.items()
            if 'rpc' in cls.module.source
            for function in cls.functions()
        }

    @functools.cached_property
    def servers(self) -> frozenset[Class]:
        """The classes with a target."""
        return frozenset(
            endpoint.cls
            for endpoints in self._targets.values()
            for endpoint in endpoints
        )

    @functools.cached_property
    def arguments(self) -> frozenset[str]:
        """Names of the arguments of all calls and of servers' methods."""
        sent = (send.arguments.names for send in self.sends)
        accepted = (
            _signature(function).names
            for cls in self.servers
            for name, (_, function) in self.tree.methods(cls).items()
            if not name.startswith('_')
        )
        return frozenset().union(*sent, *accepted)

    @functools.cached_property
    def client_versions(self) -> dict[str, Version]:
        """The newest version that each client sends."""
        found: dict[str, Version] = {}
        for send in self.sends:
            for version in send.versions:
                found[send.client] = max(
                    found.get(send.client, version), version
                )
        return found


def _client_calls(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the methods of RPC clients that code calls."""
    for node in nodes:
        for child in ast.walk(node):
            if (
                isinstance(child, ast.Call)
                and isinstance(child.func, ast.Attribute)
                and 'rpc' in _receiver_name(child.func.value).lower()
            ):
                yield child.func.attr


def _certain(body: Iterable[ast.stmt]) -> Iterator[ast.AST]:
    """Yield the statements of a function that run under no condition."""
    for statement in body:
        match statement:
            case ast.With() | ast.AsyncWith():
                yield from statement.items
                yield from _certain(statement.body)
            case ast.Expr() | ast.Assign() | ast.AnnAssign() | ast.Return():
                yield statement


def _receiver_name(node: ast.expr) -> str:
    return last_name(node.func if isinstance(node, ast.Call) else node)


def _target(tree: Tree, cls: Class) -> tuple[bool, Version | None]:
    """Return whether a class has a target, and the version of it."""
    for each in tree.bases(cls):
        call = _target_call(each)
        if call is not None:
            for item in call.keywords:
                if item.arg in ('topic', 'server'):
                    return False, None
            for item in call.keywords:
                if item.arg == 'version':
                    value = tree.inherited(cls, each, item.value)
                    return True, rpc_paths.parse_version(value)
            return True, (1, 0)
    return False, None


def _target_call(cls: Class) -> ast.Call | None:
    """Return the call that creates the attribute ``target``."""
    value = cls.assigned('target')
    if value is None:
        for function in cls.functions():
            if function.name != '__init__':
                continue
            for node in ast.walk(function):
                if isinstance(node, ast.Assign) and any(
                    isinstance(target, ast.Attribute)
                    and target.attr == 'target'
                    for target in node.targets
                ):
                    value = node.value
    if isinstance(value, ast.Call) and last_name(value.func) == 'Target':
        return value
    return None


def _has_context(function: Function) -> bool:
    arguments = [*function.args.posonlyargs, *function.args.args]
    return len(arguments) > 1 and bool(_CONTEXT.fullmatch(arguments[1].arg))


def _signature(function: Function) -> Signature:
    """Return the signature of a method without ``self`` and the context."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    optional = len(arguments.defaults)
    names = [item.arg for item in positional]
    required = set(names[2 : len(names) - optional])
    for item, default in zip(
        arguments.kwonlyargs, arguments.kw_defaults, strict=True
    ):
        names.append(item.arg)
        if default is None:
            required.add(item.arg)
    others = arguments.kwarg
    return Signature(
        frozenset(names[2:]),
        frozenset(required),
        others is not None,
        others is not None
        and any(is_name(node, others.arg) for node in ast.walk(function)),
    )


def _sends(tree: Tree) -> Iterator[Send]:
    lines = {
        module.name: [
            node.lineno for node in module.nodes.calls if _message(node)
        ]
        for module in tree.modules.values()
    }
    for name, cls in tree.classes.items():
        default: tuple[Version, ...] | None = None
        for function in cls.functions():
            end = function.end_lineno or function.lineno
            if any(
                function.lineno <= line <= end
                for line in lines[cls.module.name]
            ) and _uses_messages(tree, cls):
                if default is None:
                    default = _default_version(tree, cls)
                yield from _sends_of(tree, name, cls, function, default)


def _uses_messages(tree: Tree, cls: Class) -> bool:
    """Return whether the code of a class imports a library for messages.

    Clients of HTTP APIs may have a method ``call``, too.
    """
    return any(
        is_rpc(name)
        for each in tree.bases(cls)
        for name in (each.module.name, *each.module.imports.values())
    )


def _sends_of(
    tree: Tree,
    name: str,
    cls: Class,
    function: Function,
    default: tuple[Version, ...],
) -> Iterator[Send]:
    found: list[Send] = []

    def visit(call: ast.Call, state: State) -> None:
        message = _message(call)
        if message is None:
            return
        method, inner = message
        ignored = _parameters(tree, cls, call.func) if inner is call else None
        arguments = paths.keywords(inner, ignored or frozenset(), state)
        if ignored is None and isinstance(inner.args[-1], ast.expr):
            # Unknown code may send what follows the name of the method.
            *_, last = inner.args
            is_name = isinstance(last, ast.Constant) and last.value == method
            arguments = Arguments(
                arguments.names, arguments.complete and is_name
            )
        versions = paths.receiver(call.func, state)
        for item in call.keywords:
            if item.arg == 'version' and (
                inner is not call or 'version' in (ignored or ())
            ):
                value = paths.value(item.value, state)
                versions = value if isinstance(value, tuple) else None
        found.append(
            Send(
                name,
                function.name,
                method,
                arguments,
                versions or default,
                state.least,
                state.below,
                f'{cls.module.path}:{call.lineno}',
            )
        )

    clients = _client_versions(tree, cls)

    def constant(node: ast.expr) -> object:
        if isinstance(node, ast.Attribute) and is_name(node.value, 'self'):
            return clients.get(node.attr) or tree.class_constant(cls, node)
        return tree.class_constant(cls, node)

    paths = Paths(constant, visit)
    paths.follow(function)
    yield from found


def _message(call: ast.Call) -> tuple[str, ast.Call] | None:
    """Return the method's name, and the call with its arguments.

    The name is one of the first positional arguments, or the first of a call
    among them, such as ``self.call(ctxt, self.make_msg('resize', size=1))``.

    :returns: ``None`` if the call sends nothing
    """
    if not _SENDS.fullmatch(last_name(call.func)):
        return None
    for argument in call.args[:3]:
        match argument:
            case ast.Constant(value=str(name)) if _NAME.fullmatch(name):
                return name, call
            case ast.Call(args=[ast.Constant(value=str(name)), *_]) if (
                _NAME.fullmatch(name)
            ):
                return name, argument
    return None


def _parameters(
    tree: Tree, cls: Class, function: ast.expr
) -> frozenset[str] | None:
    """Return the parameters of a method of ``self`` that sends.

    They are not arguments of the RPC method.

    :returns: ``None`` if its code is not known
    """
    if isinstance(function, ast.Attribute) and isinstance(
        function.value, ast.Name
    ):
        found = tree.methods(cls).get(function.attr)
        if function.value.id == 'self' and found is not None:
            arguments = found[1].args
            return frozenset(
                item.arg for item in (*arguments.args, *arguments.kwonlyargs)
            )
    return None


def _client_versions(tree: Tree, cls: Class) -> dict[str, object]:
    """Return the version of each attribute made with a target of its own.

    For example, ``self.client = get_client(target)``.
    """
    found: dict[str, object] = {}
    for function in cls.functions():
        targets: dict[str, object] = {}
        for node in ast.walk(function):
            match node:
                case ast.Assign(
                    targets=[ast.Name(id=name)],
                    value=ast.Call(func=called, keywords=keywords),
                ) if last_name(called) == 'Target':
                    for item in keywords:
                        if item.arg == 'version':
                            targets[name] = tree.inherited(
                                cls, cls, item.value
                            )
                case ast.Assign(
                    targets=[ast.Attribute(attr=attribute)],
                    value=ast.Call(args=[ast.Name(id=name), *_]),
                ) if name in targets:
                    found[attribute] = targets[name]
    return found


def _default_version(tree: Tree, cls: Class) -> tuple[Version, ...]:
    """Return the version of the targets that a client creates."""
    found = set()
    for each in tree.bases(cls):
        for node in ast.walk(each.node):
            if isinstance(node, ast.Call) and last_name(node.func) == 'Target':
                for item in node.keywords:
                    if item.arg == 'version':
                        value = tree.inherited(cls, each, item.value)
                        found.add(rpc_paths.parse_version(value))
        if found:
            break
    versions = tuple(version for version in found if version)
    return versions if len(versions) == len(found) == 1 else ()
