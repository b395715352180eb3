# SPDX-License-Identifier: Apache-2.0
"""Parse the text of a lock, strictly.

The text comes from a repository and may be the result of a merge, so every
error names the line.
"""

from __future__ import annotations

import dataclasses
import datetime
import json
import pathlib
import re
import shlex
from collections.abc import Callable, Iterator
from typing import NoReturn, TypeVar

from vobjects import exceptions
from vobjects.lock import text
from vobjects.lock.model import (
    BY_HAND,
    NAMESPACE,
    OPERATIONS,
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

#: Maximum size of a file, in bytes: about a hundred times Nova's.
MAX_BYTES = 32 * 1024 * 1024

#: Maximum nesting depth of field types.
MAX_DEPTH = 20

_Value = TypeVar('_Value')

TYPE_KINDS = ('request', 'resource', 'object', 'plain')

_NAME = re.compile(r'[A-Za-z_][A-Za-z0-9_.]*')
_IMPORT = re.compile(r'[A-Za-z_][\w.]*(:[A-Za-z_][\w.]*|\.\*)?', re.ASCII)
_RELEASE = re.compile(r'[A-Za-z0-9][A-Za-z0-9._+-]*')
_FINGERPRINT = re.compile(r'[0-9a-f]{32}')
_MICROVERSION = re.compile(r'[1-9][0-9]{0,8}\.(0|[1-9][0-9]{0,8})')
_CONFLICT = ('<<<<<<<', '=======', '>>>>>>>', '|||||||')
_ACCEPT = re.compile(
    r'(?P<rule>[A-Z][A-Z0-9_]*) (?P<subject>[A-Za-z_][\w.]*)'
    r' until (?P<until>\S+): (?P<reason>\S.*)',
    re.ASCII,
)


class ParseError(LockError):
    """The text of a lock is malformed."""

    def __init__(self, where: str, line: int, problem: str) -> None:
        self.where, self.line, self.problem = where, line, problem
        super().__init__(f'{where}:{line}: {problem}')


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
        with path.open('rb') as file:
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise LockError(
            f'{path} does not exist; create it with'
            f' "{command("init --import MODULE", path)}"'
        ) from None
    except OSError as error:
        raise LockError(f'{path}: {error.strerror}') from None
    return parse_bytes(content, str(path))


def parse_bytes(content: bytes, where: str) -> Lock:
    """Parse the content of a lock file.

    :param where: name of the file, for error messages
    :raises LockError: the content is malformed; the message names the line
    """
    if len(content) > MAX_BYTES:
        raise LockError(f'{where} has more than {MAX_BYTES} bytes')
    try:
        return parse(content.decode(), where)
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b'\n') + 1
        raise ParseError(where, line, 'not UTF-8') from None


def check_release(name: str) -> str:
    """Check and return the name of a release.

    :raises LockError: the name cannot be written in a lock
    """
    if not _RELEASE.fullmatch(name):
        raise LockError(
            f'{exceptions.cut(name)} is not a valid release name: write'
            ' letters, digits and "._+-"'
        )
    return name


def parse(content: str, where: str = 'lock') -> Lock:
    """Parse the text of a lock.

    :raises ParseError: the text is malformed; the message names the line
    """
    return _Parser(where).read(content)


@dataclasses.dataclass
class _Block:
    """A block under construction, and its first line."""

    line: int
    name: str
    version: str
    attributes: dict[str, str] = dataclasses.field(default_factory=dict)
    fields: dict[str, FieldSchema] = dataclasses.field(default_factory=dict)
    conversions: list[Conversion] = dataclasses.field(default_factory=list)

    def schema(self) -> TypeSchema:
        serial, project = self.attributes.get(
            'namespace', ' '.join(NAMESPACE)
        ).split()
        return TypeSchema(
            self.name,
            self.version,
            kind=self.attributes.get('kind', 'plain'),
            fields=tuple(self.fields[name] for name in sorted(self.fields)),
            conversions=tuple(self.conversions),
            microversion=self.attributes.get('microversion', ''),
            fingerprint=self.attributes.get('fingerprint', ''),
            release=self.attributes.get('release', ''),
            until=self.attributes.get('until', ''),
            namespace=(serial, project),
        )


class _Parser:
    def __init__(self, where: str) -> None:
        self._where = where
        self._line = 0
        self._imports: list[str] = []
        self._releases: list[str] = []
        self._accepted: list[Acceptance] = []
        self._blocks: dict[tuple[str, str], _Block] = {}
        self._block: _Block | None = None

    def read(self, content: str) -> Lock:
        for number, line in self._lines(content):
            self._line = number
            if not line.startswith(' '):
                self._top_level(line)
            elif self._block is None:
                self._fail('an indented line outside of a block')
            elif not line.startswith('  ') or line.startswith('   '):
                self._fail('indent by two spaces')
            else:
                self._block_line(self._block, line[2:])
        for block in self._blocks.values():
            self._line = block.line
            self._finish(block)
        return Lock(
            tuple(self._imports),
            tuple(self._releases),
            sorted_schemas(b.schema() for b in self._blocks.values()),
            tuple(self._accepted),
        )

    def _fail(self, problem: str) -> NoReturn:
        raise ParseError(self._where, self._line, problem)

    def _lines(self, content: str) -> Iterator[tuple[int, str]]:
        """Yield non-empty lines; join the lines of a multi-line field."""
        lines = content.split('\n')
        self._line = 1
        if lines[0].rstrip('\r') != text.FORMAT:
            self._fail(f'a lock must begin with {text.FORMAT!r}')
        parts: list[str] = []
        start = 0
        for number, line in enumerate(lines[1:], 2):
            self._line = number
            if line.startswith(_CONFLICT):
                self._fail(
                    'unresolved merge conflict: keep the block that was'
                    ' released first and give the other one the next version'
                )
            if line != line.rstrip() or '\t' in line:
                self._fail('remove tabs, and spaces at the end of the line')
            if parts:
                if line.startswith('  )'):
                    yield start, ''.join(parts).rstrip(', ') + line[2:]
                    parts = []
                elif line.startswith('    ') and line.endswith(','):
                    parts.append(line.strip() + ' ')
                else:
                    self._fail("indent by four spaces and end with ','")
            elif line.startswith('  field ') and line.endswith('('):
                start, parts = number, [line]
            elif line and not line.startswith('#'):
                yield number, line
        if parts:
            self._line = start
            self._fail("'(' is not closed")

    # Top level

    def _top_level(self, line: str) -> None:
        keyword, _, rest = line.partition(' ')
        parse_line = {
            'import': self._import,
            'release': self._release,
            'accept': self._accept,
            'type': self._type,
        }.get(keyword)
        if parse_line is None:
            self._fail(
                f'unknown keyword {exceptions.cut(keyword)}: write import,'
                ' release, accept or type'
            )
        self._block = None
        parse_line(rest)

    def _import(self, rest: str) -> None:
        self._match(
            _IMPORT, rest, 'write MODULE, MODULE:CALLABLE or PACKAGE.*'
        )
        self._add(self._imports, rest)

    def _release(self, rest: str) -> None:
        self._match(_RELEASE, rest, 'write the name of a release')
        self._add(self._releases, rest)

    def _add(self, names: list[str], name: str) -> None:
        if name in names:
            self._fail(f'duplicate {name}')
        names.append(name)

    def _accept(self, rest: str) -> None:
        match = _ACCEPT.fullmatch(rest)
        if match is None:
            self._fail(
                'write "accept RULE TYPE.FIELD until YYYY-MM-DD: reason"'
            )
        try:
            until = datetime.date.fromisoformat(match['until'])
        except ValueError:
            self._fail(
                f'{exceptions.cut(match["until"])} is not a date: write'
                ' YYYY-MM-DD'
            )
        self._accepted.append(
            Acceptance(
                match['rule'],
                match['subject'],
                until,
                match['reason'],
                self._line,
            )
        )

    def _type(self, rest: str) -> None:
        words = rest.split(' ')
        if len(words) != 2 or not _NAME.fullmatch(words[0]):
            self._fail('write "type NAME VERSION"')
        name, version = words[0], words[-1]
        self._checked(version_key, version)
        duplicate = self._blocks.get((name, version))
        if duplicate is not None:
            self._fail(
                f'duplicate {name} {version}, first in line {duplicate.line}:'
                ' give the later change the next version'
            )
        self._block = _Block(self._line, name, version)
        self._blocks[name, version] = self._block

    # Inside a block

    def _block_line(self, block: _Block, line: str) -> None:
        keyword, _, rest = line.partition(' ')
        if keyword == 'field':
            self._field(block, rest)
        elif keyword == 'conversion':
            conversion = self._conversion(rest)
            if conversion in block.conversions:
                self._fail(f'duplicate conversion {rest}')
            block.conversions.append(conversion)
        elif keyword in _ATTRIBUTES:
            if keyword in block.attributes:
                self._fail(f'duplicate {keyword!r}')
            pattern, hint = _ATTRIBUTES[keyword]
            self._match(pattern, rest, hint)
            block.attributes[keyword] = rest
        else:
            self._fail(
                f'unknown keyword {exceptions.cut(keyword)}: write'
                f' {", ".join((*_ATTRIBUTES, "conversion"))} or field'
            )

    def _finish(self, block: _Block) -> None:
        kind = block.attributes.get('kind', 'plain')
        major = version_key(block.version)[0]
        if kind != 'plain' and major != 1 and 'until' not in block.attributes:
            self._fail(
                f'{block.name} {block.version}: a type of kind {kind!r} has'
                ' only versions 1.x, because peers cannot convert another'
                ' major version; delete the block, and register a type with'
                f' another name, such as {block.name}{major}'
            )
        for keyword in ('release', 'until'):
            name = block.attributes.get(keyword)
            if name is not None and name not in self._releases:
                self._fail(
                    f'{block.name} {block.version}: add the line'
                    f' "release {name}" at the top'
                )

    def _conversion(self, rest: str) -> Conversion:
        rest, _, by = rest.partition(' by ')
        words = rest.split(' ')
        ignore = words[-2:] == ['ignoring', 'loss']
        if ignore:
            words = words[:-2]
        if words == [BY_HAND.operation] and not ignore:
            return BY_HAND
        if len(words) == 4 and words[0] == 'renamed' and words[2] == 'to':
            return Conversion('renamed', words[3], words[1], ignore)
        if (
            len(words) != 2
            or words[0] not in OPERATIONS
            or words[0] == 'renamed'
        ):
            self._fail(
                'write "added FIELD", "removed FIELD", "changed FIELD'
                ' by CONVERSION",'
                ' "renamed OLD to NEW" or "by-hand"'
            )
        return Conversion(words[0], words[-1], ignore=ignore, by=by)

    def _field(self, block: _Block, rest: str) -> None:
        name, colon, definition = rest.partition(': ')
        if not colon or not _NAME.fullmatch(name):
            self._fail('write "field NAME: TYPE"')
        if name in block.fields:
            self._fail(f'duplicate field {name!r}')
        block.fields[name] = self._checked(
            lambda content: _FieldParser(name, content).parse(), definition
        )

    def _match(self, pattern: re.Pattern[str], value: str, hint: str) -> None:
        if not pattern.fullmatch(value):
            self._fail(f'{exceptions.cut(value)}: {hint}')

    def _checked(self, parse: Callable[[str], _Value], value: str) -> _Value:
        try:
            return parse(value)
        except LockError as error:
            raise ParseError(self._where, self._line, str(error)) from None


#: Keywords that a block has at most once -> pattern and hint.
_ATTRIBUTES: dict[str, tuple[re.Pattern[str], str]] = {
    'kind': (
        re.compile('|'.join(TYPE_KINDS)),
        f'write {", ".join(TYPE_KINDS)}',
    ),
    'namespace': (
        re.compile(r'[\w.-]+ [\w.-]+', re.ASCII),
        'write "namespace SERIAL PROJECT"',
    ),
    'release': (_RELEASE, 'write the name of a release'),
    'until': (_RELEASE, 'write the name of a release'),
    'microversion': (_MICROVERSION, 'write MAJOR.MINOR'),
    'fingerprint': (_FINGERPRINT, 'write 32 hexadecimal digits'),
}


class _FieldParser:
    """Parses ``TYPE [| null] [= JSON]``."""

    _json = json.JSONDecoder()

    def __init__(self, name: str, content: str) -> None:
        self._name, self._content, self._position = name, content, 0

    def parse(self) -> FieldSchema:
        field_type = self._type(0)
        nullable = self._take(' | null')
        default = self._value() if self._take(' = ') else ''
        if self._position != len(self._content):
            self._fail('expected the end of the line')
        return FieldSchema(self._name, field_type, nullable, default)

    def _fail(self, problem: str) -> NoReturn:
        rest = self._content[self._position :]
        raise LockError(
            f'field {self._name}: {problem}'
            + (f', at {exceptions.cut(rest)}' if rest else '')
        )

    def _take(self, expected: str) -> bool:
        if self._content.startswith(expected, self._position):
            self._position += len(expected)
            return True
        return False

    def _type_name(self) -> str:
        match = _NAME.match(self._content, self._position)
        if match is None:
            self._fail('expected the name of a type')
        self._position = match.end()
        return match[0]

    def _value(self) -> str:
        try:
            value, self._position = self._json.raw_decode(
                self._content, self._position
            )
            return json_text(value)
        except (ValueError, RecursionError):
            self._fail('expected a JSON value')

    def _type(self, depth: int) -> FieldType:
        if depth > MAX_DEPTH:
            self._fail(f'types are nested more than {MAX_DEPTH} levels deep')
        name = self._type_name()
        if not self._take('('):
            return FieldType(name)
        args: list[FieldType | str] = []
        options: list[tuple[str, str]] = []
        while True:
            match = _NAME.match(self._content, self._position)
            after = match.end() if match else 0
            if match is not None and self._content[after : after + 1] == '=':
                self._position = after + 1
                options.append((match[0], self._value()))
            elif match is None or match[0] in ('true', 'false', 'null'):
                args.append(self._value())
            else:
                args.append(self._type(depth + 1))
            if self._take(')'):
                return FieldType(name, tuple(args), tuple(options))
            if not self._take(', '):
                self._fail("expected ', ' or ')'")
