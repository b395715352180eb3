# SPDX-License-Identifier: Apache-2.0
"""Find pydantic models in a tree, and where clients write them as JSON."""

from __future__ import annotations

import ast
import dataclasses
import functools
import re
from collections.abc import Iterable, Iterator, Mapping

from vobjects_releases.annotations import alternatives
from vobjects_releases.enumerations import enumeration
from vobjects_releases.model_conversions import Conversions
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

#: Functions and methods that read a document.
_READERS = frozenset(
    (
        'TypeAdapter',
        'model_validate',
        'model_validate_json',
        'parse_obj',
        'parse_obj_as',
        'parse_raw',
        'parse_raw_as',
    )
)

_WORD = re.compile(r"""(?<!['"\w])[A-Za-z]\w*(?!['"])""")

#: The option for unknown fields, such as ``extra='forbid'``.
_EXTRA = re.compile(r"""\bextra['"]?\s*[=:]\s*([\w.'"]+)""")

_ROUTES = frozenset(
    ('get', 'post', 'put', 'patch', 'delete', 'api_route', 'websocket')
)


@dataclasses.dataclass(frozen=True, slots=True)
class Field:
    """A field of a model.

    :ivar required: a document without it is invalid
    :ivar is_null: its default is null
    :ivar is_excluded: JSON never has it
    """

    name: str
    annotation: ast.expr
    required: bool
    is_null: bool = False
    is_excluded: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Model:
    """A model.

    :ivar strict: it rejects unknown fields
    """

    name: str
    cls: Class
    fields: Mapping[str, Field]
    strict: bool

    @property
    def required(self) -> set[str]:
        """The names of the fields that each document has."""
        return {item.name for item in self.fields.values() if item.required}


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
    :ivar reads: models that other code reads, in answers or stored data
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
        self._fields: dict[str, dict[str, list[Class]]] = {}
        self._reachable: dict[str, dict[str, Model]] = {}
        self.requests: set[str] = set()
        self.responses: set[str] = set()
        self.writes: list[Write] = []
        self.reads: set[str] = set()
        for module in tree.modules.values() if self.models else ():
            for function in module.nodes.functions:
                self._routes(module, function)
                self.writes += self._written(module, function)
            for call in module.nodes.calls:
                self.reads.update(self._read(module, call))

    @functools.cached_property
    def conversions(self) -> Conversions:
        """The code that changes documents for older clients."""
        return Conversions(self.tree)

    def reachable(self, name: str) -> dict[str, Model]:
        """Return a model and those in its fields, at any depth."""
        if name not in self._reachable:
            self._reachable[name] = self._reached(name)
        return self._reachable[name]

    def _reached(self, name: str) -> dict[str, Model]:
        found: dict[str, Model] = {}
        pending = [name]
        while pending:
            model = self.models.get(pending.pop())
            if model is None or model.name in found:
                continue
            found[model.name] = model
            for classes in self._in_fields(model).values():
                pending += [self._names.get(cls, '') for cls in classes]
        return found

    def _in_fields(self, model: Model) -> dict[str, list[Class]]:
        """Return the classes in the annotation of each field."""
        if model.name not in self._fields:
            self._fields[model.name] = {
                name: self._classes(model.cls.module, field.annotation)
                for name, field in model.fields.items()
            }
        return self._fields[model.name]

    def _named(self, module: Module, node: ast.expr | None) -> list[str]:
        """Return the models that an annotation names, through aliases."""
        return [
            self._names[cls]
            for cls in self._classes(module, node)
            if cls in self._names
        ]

    def _classes(self, module: Module, node: ast.expr | None) -> list[Class]:
        """Return the classes that an annotation names, through aliases."""
        found: list[Class] = []
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
                    if cls is not None:
                        found.append(cls)
                    elif name not in aliases:
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

    def _read(self, module: Module, call: ast.Call) -> Iterator[str]:
        """Yield the models that a call reads."""
        if last_name(call.func) in _READERS:
            for node in (call.func, *call.args[:1]):
                yield from self._named(module, node)
        elif not call.args and [item.arg for item in call.keywords] == [None]:
            yield from filter(None, [self._created(module, call)])

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

    def enumerations(
        self, roots: Iterable[str]
    ) -> dict[str, Mapping[object, str]]:
        """Return the enumerations in the fields of models, at any depth.

        A field that may also be any text accepts unknown values.
        """
        found: dict[str, Mapping[object, str]] = {}
        models = {
            name: model
            for root in sorted(roots)
            for name, model in self.reachable(root).items()
        }
        for model in models.values():
            for field, classes in self._in_fields(model).items():
                for cls in classes:
                    values = enumeration(self.tree, cls)
                    if values and 'str' not in alternatives(
                        model.fields[field].annotation
                    ):
                        found[f'{cls.module.name}.{cls.name}'] = values
        return found

    def parts(self, model: Model, field: str) -> dict[str, Model]:
        """Return the models in the annotation of a field, by class."""
        return {
            cls.name: self.models[self._names[cls]]
            for cls in self._in_fields(model)[field]
            if cls in self._names
        }

    def kinds(self, model: Model, field: str) -> frozenset[str]:
        """Return the alternatives in the annotation of a field.

        A class that is no model with fields may have any form as JSON, and
        is ``Any``.
        """
        names = {
            name
            for name, part in self.parts(model, field).items()
            if part.fields.keys().isdisjoint(('__root__', 'root'))
        }
        kinds = {
            kind if set(_WORD.findall(kind)) <= _JSON | names else 'Any'
            for kind in alternatives(model.fields[field].annotation)
        }
        return frozenset(
            kinds | {'None'} if model.fields[field].is_null else kinds
        )

    def mentions(self, model: Model, field: str) -> bool:
        """Return whether a method of a model mentions a field, as text."""
        return any(
            isinstance(node, ast.Constant) and node.value == field
            for _, function in self.tree.methods(model.cls).values()
            for node in ast.walk(function)
        )

    def fills(self, model: Model, field: str) -> bool:
        """Return whether code for a document replaces null in a field."""
        return any(
            model.name in self.reachable(name)
            for name in self._filled.get(field, ())
        )

    @functools.cached_property
    def _filled(self) -> dict[str, set[str]]:
        """Fields whose null a function replaces, with models it declares."""
        found: dict[str, set[str]] = {}
        for module in self.tree.modules.values():
            for function in module.nodes.functions:
                for field in _replaced(function):
                    for node in (
                        function.returns,
                        *(it.annotation for it in function.args.args),
                    ):
                        found.setdefault(field, set()).update(
                            self._named(module, node)
                        )
        return found

    def rewrites(self, model: Model, field: str) -> bool:
        """Return whether a writer of a model mentions or omits a field."""
        return model.fields[field].is_excluded or any(
            isinstance(node, ast.Constant) and node.value == field
            for name, (_, function) in self.tree.methods(model.cls).items()
            if name in _WRITERS or _is_serializer(function)
            for node in ast.walk(function)
        )


def _quoted(module: Module, text: str) -> list[tuple[Module, ast.expr]]:
    """Return the expression of an annotation in quotes."""
    try:
        return [(module, ast.parse(text, mode='eval').body)]
    except SyntaxError:
        return []


def _replaced(function: Function) -> Iterator[str]:
    """Yield fields of ``if run.name is None: run.name = ''``."""
    for node in ast.walk(function):
        match node:
            case ast.If(
                test=ast.Compare(
                    left=ast.Attribute(attr=field) as value,
                    ops=[ast.Is()],
                    comparators=[ast.Constant(value=None)],
                ),
                body=[ast.Assign(targets=[target])],
            ) if ast.unparse(target) == ast.unparse(value):
                yield field


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
                        field,
                        annotation,
                        _is_required(item),
                        isinstance(item.value, ast.Constant)
                        and item.value.value is None,
                        any(map(_excludes, ast.walk(item))),
                    )
    return Model(name, cls, fields, _is_strict(tree, cls))


def _is_class_variable(annotation: ast.expr) -> bool:
    return any(last_name(node) == 'ClassVar' for node in ast.walk(annotation))


def _excludes(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=called, keywords=options):
            return last_name(called) == 'Field' and any(
                option.arg == 'exclude'
                and isinstance(option.value, ast.Constant)
                and option.value.value is True
                for option in options
            )
    return False


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
            options = _EXTRA.findall(text)
            if options:  # several depend on a setting, such as that of tests
                return all('forbid' in option for option in options)
    return any(base.startswith(_STRICT) for base in tree.external_bases(cls))
