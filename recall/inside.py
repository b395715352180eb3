# SPDX-License-Identifier: Apache-2.0
"""Write the lock of a tree; runs in the environment of the tree.

``python -m recall.inside LOCK IMPORT...`` freezes the registered objects as
the release ``before``. With ``--models``, it reads pydantic models instead.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import pathlib
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from vobjects.lock import edit, golden, registries, snapshot, text
from vobjects.lock.model import (
    FieldSchema,
    FieldType,
    Lock,
    TypeSchema,
    json_text,
    sorted_schemas,
)


def main() -> None:
    """Write the lock that the arguments name."""
    parser = argparse.ArgumentParser(prog='python -m recall.inside')
    parser.add_argument('lock', type=pathlib.Path)
    parser.add_argument('imports', nargs='+')
    parser.add_argument('--models', action='store_true')
    options = parser.parse_args()
    with quiet():
        if options.models:
            for name in options.imports:
                registries.load(name)
            code = models_lock(all_models(), options.imports)
        else:
            snapshot.load(options.imports)
            code = snapshot.snapshot(options.imports)
        if not code.schemas:
            sys.exit('no types are registered')
        lock = edit.release(code, 'before', code)
        if not options.models:
            golden.write(options.lock, 'before', code)
    options.lock.write_text(text.dump(lock))


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep what a service prints, warns and logs away from the results."""
    warnings.simplefilter('ignore')
    logging.disable(logging.CRITICAL)
    with contextlib.redirect_stdout(sys.stderr):
        yield


def all_models() -> Iterator[Any]:
    """Yield the classes of models that are imported, without pydantic's."""
    import pydantic

    pending = [pydantic.BaseModel]
    seen = set()
    while pending:
        for model in pending.pop().__subclasses__():
            if model not in seen:
                seen.add(model)
                pending.append(model)
                if not model.__module__.startswith('pydantic'):
                    yield model


def models_lock(models: Iterable[Any], imports: Iterable[str]) -> Lock:
    """Return models as a lock, each as version 1.0 of a type.

    A model that rejects unknown fields has the kind ``request``.
    """
    schemas: dict[str, TypeSchema] = {}
    packages = {name.split('.')[0].split(':')[0] for name in imports}
    for model in models:
        if model.__module__.split('.')[0] in packages:
            schema = _model_schema(model)
            schemas.setdefault(schema.name, schema)
    return Lock(tuple(imports), (), sorted_schemas(schemas.values()))


def _model_schema(model: Any) -> TypeSchema:
    old = not hasattr(model, 'model_fields')
    configuration = model.__config__ if old else model.model_config
    extra = (
        configuration.extra if old else configuration.get('extra', 'ignore')
    )
    fields = model.__fields__ if old else model.model_fields
    try:
        document = model.schema() if old else model.model_json_schema()
    except Exception:  # noqa: BLE001 - types without a JSON schema
        document = {}
    definitions = document.get('definitions') or document.get('$defs') or {}
    properties = document.get('properties', {})
    return TypeSchema(
        _identifier(model.__name__),
        '1.0',
        kind='request'
        if getattr(extra, 'value', extra) == 'forbid'
        else 'plain',
        fields=tuple(
            _model_field(name, fields[name], properties, definitions)
            for name in sorted(fields)
        ),
    )


def _model_field(
    name: str,
    field: Any,
    properties: Mapping[str, Any],
    definitions: Mapping[str, Any],
) -> FieldSchema:
    old = hasattr(field, 'allow_none')
    required = field.required if old else field.is_required()
    schema = properties.get(field.alias or name, {})
    kinds = schema.get('anyOf', [schema])
    nullable = (
        field.allow_none
        if old
        else any(kind.get('type') == 'null' for kind in kinds)
    )
    default = ''
    if not required:
        try:
            default = json_text(field.default)
        except (TypeError, ValueError):
            default = json_text('computed')
    return FieldSchema(
        name, _field_type(schema, definitions), nullable, default
    )


def _field_type(
    schema: Mapping[str, Any], definitions: Mapping[str, Any]
) -> FieldType:
    """Return the type of a JSON schema; enums as in a lock."""
    kinds = [
        kind
        for kind in schema.get('anyOf', schema.get('allOf', [schema]))
        if kind.get('type') != 'null'
    ]
    if len(kinds) != 1:
        return FieldType(
            'Union', tuple(_field_type(k, definitions) for k in kinds)
        )
    kind = kinds[0]
    name = str(kind.get('$ref', '')).rpartition('/')[2]
    values = (definitions.get(name, {}) if name else kind).get('enum')
    if values is not None:
        return FieldType('Enum', tuple(sorted(map(json.dumps, values))))
    if name:
        return FieldType('Object', (FieldType(_identifier(name)),))
    if 'items' in kind and isinstance(kind['items'], dict):
        return FieldType('List', (_field_type(kind['items'], definitions),))
    return FieldType(_identifier(str(kind.get('type', 'Any'))).capitalize())


def _identifier(name: str) -> str:
    return ''.join(c if c.isalnum() or c == '_' else '_' for c in name)


if __name__ == '__main__':
    main()
