# SPDX-License-Identifier: Apache-2.0
"""Find pydantic models in a tree, and where clients write them as JSON."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Iterator, Mapping

from vobjects_releases.tree import (
    Class,
    Function,
    Module,
    Tree,
    is_name,
    last_name,
)

#: Packages whose models reject unknown fields in requests by default.
_STRICT = ('pydantic_duality.',)

_PACKAGES = ('pydantic.', 'sqlmodel.', *_STRICT)

_WRITERS = frozenset(('json', 'dict', 'model_dump', 'model_dump_json'))

#: Options that leave out what the caller has not set.
_OMISSIONS = frozenset(('exclude_unset', 'exclude_none', 'exclude_defaults'))

#: Annotations whose JSON is known.
_JSON = frozenset(
    ('None', 'bool', 'dict', 'float', 'int', 'list', 'set', 'str', 'tuple')
)

_WORD = re.compile(r"""(?<!['"\w])[A-Za-z]\w*(?!['"])""")

_ROUTES = frozenset(
    ('get', 'post', 'put', 'patch', 'delete', 'api_route', 'websocket')
)


@dataclasses.dataclass(frozen=True, slots=True)
class Field:
    """A field of a model.

    :ivar required: a document without it is invalid
    """

    name: str
    annotation: ast.expr
    required: bool


@dataclasses.dataclass(frozen=True, slots=True)
class Model:
    """A model.

    :ivar strict: it rejects unknown fields
    """

    name: str
    cls: Class
    fields: Mapping[str, Field]
    strict: bool


@dataclasses.dataclass(frozen=True, slots=True)
class Write:
    """Code that writes a model as JSON.

    :ivar model: qualified name
    :ivar omits: it leaves out what the caller has not set
    :ivar excluded: names that the code mentions to leave them out
    """

    model: str
    omits: bool
    excluded: frozenset[str]
    location: str


class Models:
    """The models of a tree.

    :ivar requests: models that routes read, by qualified name
    :ivar responses: models that routes return
    :ivar writes: code that writes models, for servers or for others
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.models = {
            name: _model(tree, name, cls)
            for name, cls in tree.classes.items()
            if any(
                base.startswith(_PACKAGES) for base in tree.external_bases(cls)
            )
        }
        self._names = {model.cls: name for name, model in self.models.items()}
        self._changes: list[set[object]] | None = None
        self.requests: set[str] = set()
        self.responses: set[str] = set()
        self.writes: list[Write] = []
        for module in tree.modules.values() if self.models else ():
            for function in module.nodes.functions:
                self._routes(module, function)
                self.writes += self._written(module, function)

    def reachable(self, name: str) -> dict[str, Model]:
        """Return a model and those in its fields, at any depth."""
        found: dict[str, Model] = {}
        pending = [name]
        while pending:
            model = self.models.get(pending.pop())
            if model is None or model.name in found:
                continue
            found[model.name] = model
            for field in model.fields.values():
                pending += self._named(model.cls.module, field.annotation)
        return found

    def _named(self, module: Module, node: ast.expr | None) -> list[str]:
        """Return the models that an annotation names, through aliases."""
        found: list[str] = []
        pending: list[tuple[Module, ast.expr]] = []
        if node is not None:
            pending.append((module, node))
        aliases: set[str] = set()
        while pending:
            owner, annotation = pending.pop()
            for child in ast.walk(annotation):
                if isinstance(child, ast.Constant):
                    if isinstance(child.value, str):
                        pending += _quoted(owner, child.value)
                elif isinstance(child, ast.Name | ast.Attribute):
                    name = owner.dotted(child)
                    cls = self.tree.resolve(name)
                    if cls in self._names:
                        found.append(self._names[cls])
                    elif cls is None and name not in aliases:
                        aliases.add(name)
                        pending += self._alias(name)
        return found

    def _alias(self, dotted: str) -> list[tuple[Module, ast.expr]]:
        """Return what a module assigns to the name of a type."""
        owner, _, name = dotted.rpartition('.')
        module = self.tree.modules.get(owner)
        if module is None:
            return []
        return [
            (module, item.value)
            for item in module.body.body
            if isinstance(item, ast.Assign)
            and any(is_name(target, name) for target in item.targets)
        ]

    def _routes(self, module: Module, function: Function) -> None:
        """Record the models in the signature of a route."""
        routes = [
            item
            for item in function.decorator_list
            if isinstance(item, ast.Call)
            and isinstance(item.func, ast.Attribute)
            and item.func.attr in _ROUTES
        ]
        if routes:
            arguments = function.args
            for argument in (*arguments.args, *arguments.kwonlyargs):
                self.requests.update(self._named(module, argument.annotation))
            self.responses.update(self._named(module, function.returns))
            for route in routes:
                for item in route.keywords:
                    if item.arg == 'response_model':
                        self.responses.update(self._named(module, item.value))

    def _written(self, module: Module, function: Function) -> Iterator[Write]:
        """Yield the models that a function creates and writes."""
        created: dict[str, str] = {}
        for node in ast.walk(function):
            if isinstance(node, ast.Assign | ast.AnnAssign):
                model = self._created(module, node.value)
                targets = (
                    node.targets
                    if isinstance(node, ast.Assign)
                    else [node.target]
                )
                for target in targets:
                    if model and isinstance(target, ast.Name):
                        created[target.id] = model
        for node in ast.walk(function):
            match node:
                case ast.Call(
                    func=ast.Attribute(value=value, attr=method)
                ) if method in _WRITERS:
                    model = (
                        created.get(value.id, '')
                        if isinstance(value, ast.Name)
                        else self._created(module, value)
                    )
                    if model:
                        yield self._write(module, function, node, model)

    def _created(self, module: Module, node: ast.expr | None) -> str:
        """Return the model that an expression creates, or ``''``."""
        if isinstance(node, ast.Call):
            cls = self.tree.resolve(module.dotted(node.func))
            if cls is not None:
                return self._names.get(cls, '')
        return ''

    def _write(
        self, module: Module, function: Function, call: ast.Call, model: str
    ) -> Write:
        omits = any(
            item.arg in _OMISSIONS or item.arg is None
            for item in call.keywords
        )
        excluded: set[str] = set()
        for item in call.keywords:
            if item.arg in ('exclude', 'include'):
                excluded |= self._mentioned(module, function, item.value)
        return Write(
            model,
            omits,
            frozenset(excluded),
            f'{module.path}:{call.lineno}',
        )

    def _mentioned(
        self, module: Module, function: Function, node: ast.expr
    ) -> set[str]:
        """Return the texts in an expression and in the functions it calls."""
        found: set[str] = set()
        pending: list[tuple[Module, ast.AST]] = [(module, node)]
        if isinstance(node, ast.Name):
            pending.append((module, function))
        seen = set()
        while pending:
            owner, part = pending.pop()
            for child in ast.walk(part):
                if isinstance(child, ast.Constant) and isinstance(
                    child.value, str
                ):
                    found.add(child.value)
                elif isinstance(child, ast.Name | ast.Attribute):
                    name = owner.dotted(child)
                    known = self.tree.functions.get(name)
                    if known is not None and name not in seen:
                        seen.add(name)
                        pending.append(known)
        return found

    def owner(self, model: Model, field: str) -> str:
        """Return the name of the class that declares a field."""
        for each in self.tree.bases(model.cls):
            for item in each.node.body:
                if isinstance(item, ast.AnnAssign) and is_name(
                    item.target, field
                ):
                    return each.name
        return model.cls.name

    def versioned(self, model: Model, field: str) -> bool:
        """Return whether a Cadwyn version change mentions a field."""
        if self._changes is None:
            self._changes = [
                {last_name(node) for node in ast.walk(cls.node)}
                | {
                    node.value
                    for node in ast.walk(cls.node)
                    if isinstance(node, ast.Constant)
                }
                for cls in self.tree.classes.values()
                if any(
                    last_name(base) == 'VersionChange'
                    for base in cls.node.bases
                )
            ]
        return any({model.cls.name, field} <= names for names in self._changes)

    def kinds(self, model: Model, field: str) -> frozenset[str]:
        """Return the alternatives in the annotation of a field.

        A class that is no model with fields may have any form as JSON, and
        is ``Any``.
        """
        annotation = model.fields[field].annotation
        names = {
            self.models[name].cls.name
            for name in self._named(model.cls.module, annotation)
            if '__root__' not in self.models[name].fields
            and 'root' not in self.models[name].fields
        }
        return frozenset(
            kind if set(_WORD.findall(kind)) <= _JSON | names else 'Any'
            for kind in _kinds(annotation)
        )

    def mentions(self, model: Model, field: str) -> bool:
        """Return whether a method of a model mentions a field, as text."""
        return any(
            isinstance(node, ast.Constant) and node.value == field
            for _, function in self.tree.methods(model.cls).values()
            for node in ast.walk(function)
        )

    def rewrites(self, model: Model, field: str) -> bool:
        """Return whether a writer of a model mentions a field."""
        return any(
            isinstance(node, ast.Constant) and node.value == field
            for name, (_, function) in self.tree.methods(model.cls).items()
            if name in _WRITERS or _is_serializer(function)
            for node in ast.walk(function)
        )


def _kinds(node: ast.expr) -> Iterator[str]:
    """Yield the alternatives of an annotation, in one spelling."""
    match node:
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            yield from _kinds(left)
            yield from _kinds(right)
        case ast.Subscript(value=generic, slice=arguments):
            items = (
                arguments.elts
                if isinstance(arguments, ast.Tuple)
                else [arguments]
            )
            match last_name(generic):
                case 'Optional':
                    yield 'None'
                    yield from _kinds(items[0])
                case 'Union':
                    for item in items:
                        yield from _kinds(item)
                case 'Annotated':
                    yield from _kinds(items[0])
                case 'Literal':
                    for item in items:
                        yield ast.unparse(item)
                case name:
                    inner = ('|'.join(sorted(_kinds(item))) for item in items)
                    yield f'{name.lower()}[{",".join(inner)}]'
        case ast.Constant(value=str(text)):
            try:
                yield from _kinds(ast.parse(text, mode='eval').body)
            except SyntaxError:
                yield text
        case ast.Constant(value=value):
            yield str(value)
        case ast.Attribute() | ast.Name():
            yield last_name(node)
        case _:
            yield ast.unparse(node)


def _quoted(module: Module, text: str) -> list[tuple[Module, ast.expr]]:
    """Return the expression of an annotation in quotes."""
    try:
        return [(module, ast.parse(text, mode='eval').body)]
    except SyntaxError:
        return []


def _is_serializer(function: Function) -> bool:
    return any(
        'serializer'
        in last_name(item.func if isinstance(item, ast.Call) else item)
        for item in function.decorator_list
    )


def _model(tree: Tree, name: str, cls: Class) -> Model:
    fields: dict[str, Field] = {}
    for each in reversed(tree.bases(cls)):
        for item in each.node.body:
            match item:
                case ast.AnnAssign(
                    target=ast.Name(id=field), annotation=annotation
                ) if not field.startswith('_') and not _is_class_variable(
                    annotation
                ):
                    fields[field] = Field(
                        field, annotation, _is_required(item)
                    )
    return Model(name, cls, fields, _is_strict(tree, cls))


def _is_class_variable(annotation: ast.expr) -> bool:
    return any(last_name(node) == 'ClassVar' for node in ast.walk(annotation))


def _is_required(item: ast.AnnAssign) -> bool:
    """Return whether a field has no default.

    In the first version of pydantic, a field that may be null has one.
    """
    value: ast.expr | None = item.value
    if isinstance(value, ast.Call) and last_name(value.func) == 'Field':
        names = {keyword.arg for keyword in value.keywords}
        if names & {'default', 'default_factory'}:
            return False
        value = value.args[0] if value.args else None
    if isinstance(value, ast.Constant) and value.value is Ellipsis:
        value = None
    if value is not None:
        return False
    return not any(
        last_name(node) == 'Optional'
        or (isinstance(node, ast.Constant) and node.value is None)
        or last_name(node) in ('Field', 'Depends')
        for node in ast.walk(item.annotation)
    )


def _is_strict(tree: Tree, cls: Class) -> bool:
    for each in tree.bases(cls):
        texts = [
            ast.unparse(item)
            for item in each.node.body
            if (isinstance(item, ast.ClassDef) and item.name == 'Config')
            or (
                isinstance(item, ast.Assign)
                and any(is_name(it, 'model_config') for it in item.targets)
            )
        ]
        texts += [
            f'{item.arg}={ast.unparse(item.value)}'
            for item in each.node.keywords
        ]
        for text in texts:
            if 'extra' in text:
                return 'forbid' in text
    return any(base.startswith(_STRICT) for base in tree.external_bases(cls))
