# SPDX-License-Identifier: Apache-2.0
"""Parse the text of a lock, strictly.

The text comes from a repository and may be the result of a merge, so every
error names the line, or the type and version.
"""

from __future__ import annotations

import ast
import datetime
import json
import pathlib
import re
import shlex
import tomllib
from collections.abc import Mapping
from typing import Any

from vobjects import exceptions
from vobjects.lock import text
from vobjects.lock.model import (
    BY_HAND,
    NAMESPACE,
    Acceptance,
    Conversion,
    FieldSchema,
    FieldType,
    Lock,
    LockError,
    TypeSchema,
    json_text,
    sorted_schemas,
    version_key,
)

#: Default path of a lock file, in the working directory.
DEFAULT_PATH = pathlib.Path('vobjects.lock')

TYPE_KINDS = ('request', 'resource', 'object', 'plain')

#: The name of a release.
RELEASE = re.compile(r'[A-Za-z0-9][A-Za-z0-9._+-]*')
_NAME = re.compile(r'[A-Za-z_][A-Za-z0-9_.]*')
_ACCEPT = re.compile(
    r'(?P<rule>[A-Z][A-Z0-9_]*) (?P<subject>[A-Za-z_][\w.]*)'
    r' until (?P<until>\S+): (?P<reason>\S.*)',
    re.ASCII,
)
_CONVERSION = re.compile(
    r'by-hand|(?P<operation>added|removed|changed|renamed (?P<old>\S+) to)'
    r' (?P<field>\S+)(?P<ignore> ignoring loss)?( by (?P<by>.*))?'
)
_CONFLICT = re.compile('^(<<<<<<<|=======|>>>>>>>|[|]{7})', re.MULTILINE)


def _text(pattern: re.Pattern[str] | str, hint: str) -> Mapping[str, Any]:
    pattern = pattern if isinstance(pattern, str) else pattern.pattern
    return {
        'type': 'string',
        'pattern': rf'\A(?:{pattern})\Z',
        'description': f'write {hint}',
    }


def _list(pattern: re.Pattern[str] | str, hint: str) -> Mapping[str, Any]:
    return {
        'type': 'array',
        'uniqueItems': True,
        'items': _text(pattern, hint),
    }


def _table(name: Mapping[str, Any], values: Any) -> Mapping[str, Any]:
    return {
        'type': 'object',
        'propertyNames': name,
        'additionalProperties': values,
    }


_VERSION: Mapping[str, Any] = {
    'type': 'object',
    'additionalProperties': False,
    'properties': {
        'kind': {'enum': list(TYPE_KINDS)},
        'namespace': _text(r'[\w.-]+ [\w.-]+', '"SERIAL PROJECT"'),
        'release': _text(RELEASE, 'the name of a release'),
        'until': _text(RELEASE, 'the name of a release'),
        'microversion': _text(
            r'[1-9][0-9]{0,8}\.(0|[1-9][0-9]{0,8})', 'MAJOR.MINOR'
        ),
        'fingerprint': _text('[0-9a-f]{32}', '32 hexadecimal digits'),
        'conversions': _list(
            _CONVERSION,
            '"added FIELD", "removed FIELD", "changed FIELD by CONVERSION",'
            ' "renamed OLD to NEW" or "by-hand"',
        ),
        'fields': _table(
            _text(_NAME, 'the name of a field'), {'type': 'string'}
        ),
    },
}

#: The content of a lock, as a JSON schema.
_SCHEMA: Mapping[str, Any] = {
    'type': 'object',
    'additionalProperties': False,
    'required': ['format'],
    'properties': {
        'format': {'const': text.FORMAT},
        'imports': _list(
            r'[A-Za-z_][A-Za-z0-9_.]*(:[A-Za-z_][A-Za-z0-9_.]*|\.\*)?',
            'MODULE, MODULE:CALLABLE or PACKAGE.*',
        ),
        'releases': _list(RELEASE, 'the name of a release'),
        'accept': _list(_ACCEPT, '"RULE TYPE.FIELD until YYYY-MM-DD: reason"'),
        'type': _table(
            _text(_NAME, 'the name of a type'),
            _table({'type': 'string'}, _VERSION),
        ),
    },
}


def command(words: str, path: pathlib.Path) -> str:
    """Return a command of ``vobjects lock``, for messages.

    :param words: the command's name and arguments
    :param path: the lock file; named unless it is the default
    """
    option = (
        '' if path == DEFAULT_PATH else f' --file {shlex.quote(str(path))}'
    )
    return f'vobjects lock {words}{option}'


def load(path: pathlib.Path) -> Lock:
    """Read a lock file.

    :raises LockError: the file does not exist, or is malformed
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise LockError(
            f'{path} does not exist; create it with'
            f' "{command("init --import MODULE", path)}"'
        ) from None
    except OSError as error:
        raise LockError(f'{path}: {error.strerror}') from None
    return parse(content, str(path))


def parse(content: str | bytes, where: str = 'lock') -> Lock:
    """Parse the text of a lock.

    :param where: name of the file, for error messages
    :raises LockError: the text is malformed; the message names the line, or
        the type and version
    """
    try:
        if isinstance(content, bytes):
            content = content.decode()
        return _lock(tomllib.loads(content))
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b'\n') + 1
        problem = f'not UTF-8 (at line {line})'
    except (LockError, tomllib.TOMLDecodeError, RecursionError) as error:
        problem = str(error)
        if conflict := _CONFLICT.search(str(content)):
            line = str(content)[: conflict.start()].count('\n') + 1
            problem = (
                'unresolved merge conflict: keep the version that was released'
                ' first and give the other one the next version (at line'
                f' {line})'
            )
    raise LockError(f'{where}: {problem}')


def _lock(document: Mapping[str, Any]) -> Lock:
    # Imported here: commands need only the names of this module for --help.
    import jsonschema

    validator = jsonschema.Draft202012Validator(_SCHEMA)
    for error in validator.iter_errors(document):
        hint = error.schema.get('description')
        problem = f'{exceptions.cut(error.instance)}: {hint}'
        raise LockError(
            f'{error.json_path}: {problem if hint else error.message}'
        )
    releases = document.get('releases', ())
    return Lock(
        tuple(document.get('imports', ())),
        tuple(releases),
        sorted_schemas(
            _schema(name, version, block, releases)
            for name, versions in document.get('type', {}).items()
            for version, block in versions.items()
        ),
        tuple(map(_acceptance, document.get('accept', ()))),
    )


def _acceptance(line: str) -> Acceptance:
    match = _ACCEPT.fullmatch(line)
    assert match is not None
    try:
        until = datetime.date.fromisoformat(match['until'])
    except ValueError:
        raise LockError(
            f'$.accept: {exceptions.cut(match["until"])} is not a date: write'
            ' YYYY-MM-DD'
        ) from None
    return Acceptance(match['rule'], match['subject'], until, match['reason'])


def _schema(
    name: str, version: str, block: Mapping[str, Any], releases: list[str]
) -> TypeSchema:
    attributes = {'kind': 'plain', 'namespace': ' '.join(NAMESPACE), **block}
    kind, (major, *_minor) = attributes['kind'], version_key(version)
    if kind != 'plain' and major != 1 and 'until' not in block:
        raise LockError(
            f'{name} {version}: a type of kind {kind!r} has only versions 1.x,'
            ' because peers cannot convert another major version; delete the'
            ' version, and register a type with another name, such as'
            f' {name}{major}'
        )
    for key in {'release', 'until'} & block.keys():
        if block[key] not in releases:
            raise LockError(
                f'{name} {version}: add "{block[key]}" to the list "releases"'
            )
    serial, project = attributes.pop('namespace').split()
    fields = sorted(attributes.pop('fields', {}).items())
    conversions = attributes.pop('conversions', ())
    try:
        return TypeSchema(
            name,
            version,
            fields=tuple(_field(*field) for field in fields),
            conversions=tuple(map(_conversion, conversions)),
            namespace=(serial, project),
            **attributes,
        )
    except LockError as error:
        raise LockError(f'{name} {version}: {error}') from None


def _conversion(line: str) -> Conversion:
    match = _CONVERSION.fullmatch(line)
    assert match is not None
    if not match['field']:
        return BY_HAND
    return Conversion(
        match['operation'].partition(' ')[0],
        match['field'],
        match['old'] or '',
        bool(match['ignore']),
        match['by'] or '',
    )


def _field(name: str, definition: str) -> FieldSchema:
    """Parse ``TYPE [| null] [= JSON]``.

    This is the syntax of an annotation in Python, with values in JSON.
    """
    source = f'_: {definition}'
    try:
        (statement,) = ast.parse(source).body
        if not isinstance(statement, ast.AnnAssign):
            raise ValueError(definition)
        annotation, nullable = statement.annotation, False
        match annotation:
            case ast.BinOp(annotation, ast.BitOr(), ast.Name('null')):
                nullable = True
        default = _json(source, statement.value) if statement.value else ''
        return FieldSchema(name, _type(source, annotation), nullable, default)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise LockError(
            f'field {name}: {exceptions.cut(definition)} is not a field: write'
            ' TYPE, TYPE | null or TYPE = JSON; a type is NAME or'
            ' NAME(TYPE, JSON, OPTION=JSON)'
        ) from None


def _type(source: str, node: ast.expr) -> FieldType:
    args: list[FieldType | str] = []
    options: list[tuple[str, str]] = []
    if isinstance(node, ast.Call):
        for arg in node.args:
            if isinstance(arg, ast.Call | ast.Attribute | ast.Name) and (
                ast.unparse(arg) not in ('true', 'false', 'null')
            ):
                args.append(_type(source, arg))
            else:
                args.append(_json(source, arg))
        for keyword in node.keywords:
            if keyword.arg is None:
                raise ValueError(source)
            options.append((keyword.arg, _json(source, keyword.value)))
        node = node.func
    if not _NAME.fullmatch(name := ast.unparse(node)):
        raise ValueError(name)
    return FieldType(name, tuple(args), tuple(options))


def _json(source: str, node: ast.expr) -> str:
    return json_text(json.loads(ast.get_source_segment(source, node) or ''))
