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
from collections.abc import Callable, Iterator
from typing import NoReturn, TypeVar

from vobjects import exceptions
from vobjects.lock import text
from vobjects.lock.model import (
    BY_HAND,
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

#: Maximum size of a file, in bytes: about a hundred times Nova's.
MAX_BYTES = 32 * 1024 * 1024

#: Maximum nesting depth of field types.
MAX_DEPTH = 20

_Value = TypeVar('_Value')

TYPE_KINDS = ('request', 'resource', 'object', 'plain')

_NAME = re.compile(r'[A-Za-z_][A-Za-z0-9_.]*')
_WORD = re.compile(r'\S+')
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


def load(path: pathlib.Path) -> Lock:
    """Read a lock file.

    :raises LockError: the file does not exist, or is malformed
    """
    try:
        with path.open('rb') as file:
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise LockError(
            f'there is no {path}; "vobjects lock init" makes one'
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
        raise ParseError(where, line, 'this is not UTF-8') from None


def check_release(name: str) -> str:
    """Check and return the name of a release.

    :raises LockError: the name cannot be written in a lock
    """
    if not _RELEASE.fullmatch(name):
        raise LockError(
            f'{exceptions.cut(name)} cannot be the name of a release: write'
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
    """A block that is being read, and the line that it starts on."""

    line: int
    name: str
    version: str
    said: dict[str, str] = dataclasses.field(default_factory=dict)
    fields: dict[str, FieldSchema] = dataclasses.field(default_factory=dict)
    conversions: list[Conversion] = dataclasses.field(default_factory=list)

    def schema(self) -> TypeSchema:
        spaces = self.said.get('namespace')
        return TypeSchema(
            self.name,
            self.version,
            kind=self.said.get('kind', 'plain'),
            fields=tuple(self.fields[name] for name in sorted(self.fields)),
            conversions=tuple(self.conversions),
            microversion=self.said.get('microversion', ''),
            fingerprint=self.said.get('fingerprint', ''),
            release=self.said.get('release', ''),
            until=self.said.get('until', ''),
            **(
                {} if spaces is None else {'namespace': tuple(spaces.split())}  # type: ignore[arg-type]
            ),
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
        for line, said in self._lines(content):
            self._line = line
            if not said.startswith(' '):
                self._top(said)
            elif self._block is None:
                self._fail('nothing has begun that this could belong to')
            elif not said.startswith('  ') or said.startswith('   '):
                self._fail('indent by two spaces')
            else:
                self._inside(self._block, said[2:])
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
            self._fail(f'a lock begins with {text.FORMAT!r}')
        parts: list[str] = []
        start = 0
        for number, line in enumerate(lines[1:], 2):
            self._line = number
            if line.startswith(_CONFLICT):
                self._fail(
                    'a merge conflict is not resolved: keep the block that'
                    ' was released first and give the other one the next'
                    ' version'
                )
            if line != line.rstrip() or '\t' in line:
                self._fail('a tab, or space at the end of the line')
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
            self._fail("'(' is never closed")

    # Top level

    def _top(self, said: str) -> None:
        word, _, rest = said.partition(' ')
        read = {
            'import': self._import,
            'release': self._release,
            'accept': self._accept,
            'type': self._type,
        }.get(word)
        if read is None:
            self._fail(
                f'{exceptions.cut(word)} is none of import, release, accept'
                ' and type'
            )
        self._block = None
        read(rest)

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
            self._fail(f'{name} is there twice')
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
            self._fail(f'{exceptions.cut(match["until"])} is no YYYY-MM-DD')
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
        before = self._blocks.get((name, version))
        if before is not None:
            self._fail(
                f'{name} {version} is there already, in line {before.line};'
                ' two changes took the same version: give one the next'
            )
        self._block = _Block(self._line, name, version)
        self._blocks[name, version] = self._block

    # Inside a block

    def _inside(self, block: _Block, said: str) -> None:
        word, _, rest = said.partition(' ')
        if word == 'field':
            self._field(block, rest)
        elif word == 'conversion':
            conversion = self._conversion(rest)
            if conversion in block.conversions:
                self._fail('this conversion is there twice')
            block.conversions.append(conversion)
        elif word in _SAID:
            if word in block.said:
                self._fail(f'{word!r} is there twice')
            pattern, wanted = _SAID[word]
            self._match(pattern, rest, wanted)
            block.said[word] = rest
        else:
            self._fail(
                f'{exceptions.cut(word)} is none of'
                f' {", ".join((*_SAID, "conversion"))} and field'
            )

    def _finish(self, block: _Block) -> None:
        for word in ('release', 'until'):
            name = block.said.get(word)
            if name is not None and name not in self._releases:
                self._fail(
                    f'{block.name} {block.version}: no line "release {name}"'
                    ' is at the top'
                )

    def _conversion(self, rest: str) -> Conversion:
        words = rest.split(' ')
        ignore = words[-2:] == ['ignoring', 'loss']
        if ignore:
            words = words[:-2]
        if words == [BY_HAND.verb] and not ignore:
            return BY_HAND
        if len(words) == 4 and words[0] == 'renamed' and words[2] == 'to':
            return Conversion('renamed', words[3], words[1], ignore)
        if (
            len(words) != 2
            or words[0] not in OPERATIONS
            or words[0] == 'renamed'
        ):
            self._fail(
                'write "added FIELD", "removed FIELD", "changed FIELD",'
                ' "renamed OLD to NEW" or "by-hand"'
            )
        return Conversion(words[0], words[-1], ignore=ignore)

    def _field(self, block: _Block, rest: str) -> None:
        name, colon, said = rest.partition(': ')
        if not colon or not _NAME.fullmatch(name):
            self._fail('write "field NAME: TYPE"')
        if name in block.fields:
            self._fail(f'field {name!r} is there twice')
        block.fields[name] = self._checked(
            lambda given: _FieldReader(name, given).read(), said
        )

    def _match(self, pattern: re.Pattern[str], said: str, hint: str) -> None:
        if not pattern.fullmatch(said):
            self._fail(f'{exceptions.cut(said)}: {hint}')

    def _checked(self, read: Callable[[str], _Value], said: str) -> _Value:
        try:
            return read(said)
        except LockError as error:
            raise ParseError(self._where, self._line, str(error)) from None


#: Keywords that a block has at most once -> pattern and hint.
_SAID: dict[str, tuple[re.Pattern[str], str]] = {
    'kind': (
        re.compile('|'.join(TYPE_KINDS)),
        f'write one of {", ".join(TYPE_KINDS)}',
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


class _FieldReader:
    """Parses ``TYPE [| null] [= JSON]``."""

    _json = json.JSONDecoder()

    def __init__(self, name: str, said: str) -> None:
        self._name, self._said, self._at = name, said, 0

    def read(self) -> FieldSchema:
        kind = self._kind(0)
        nullable = self._take(' | null')
        default = self._value() if self._take(' = ') else ''
        if self._at != len(self._said):
            self._fail('nothing more may follow here')
        return FieldSchema(self._name, kind, nullable, default)

    def _fail(self, problem: str) -> NoReturn:
        rest = self._said[self._at :]
        raise LockError(
            f'field {self._name}: {problem}'
            + (f', at {exceptions.cut(rest)}' if rest else '')
        )

    def _take(self, expected: str) -> bool:
        if self._said.startswith(expected, self._at):
            self._at += len(expected)
            return True
        return False

    def _word(self) -> str:
        match = _NAME.match(self._said, self._at)
        if match is None:
            self._fail('expected the name of a type')
        self._at = match.end()
        return match[0]

    def _value(self) -> str:
        try:
            value, self._at = self._json.raw_decode(self._said, self._at)
            return json_text(value)
        except (ValueError, RecursionError):
            self._fail('expected a JSON value')

    def _kind(self, depth: int) -> FieldType:
        if depth > MAX_DEPTH:
            self._fail('types are nested too deeply')
        name = self._word()
        if not self._take('('):
            return FieldType(name)
        args: list[FieldType | str] = []
        options: list[tuple[str, str]] = []
        while True:
            match = _NAME.match(self._said, self._at)
            after = match.end() if match else 0
            if match is not None and self._said[after : after + 1] == '=':
                self._at = after + 1
                options.append((match[0], self._value()))
            elif match is None or match[0] in ('true', 'false', 'null'):
                args.append(self._value())
            else:
                args.append(self._kind(depth + 1))
            if self._take(')'):
                return FieldType(name, tuple(args), tuple(options))
            if not self._take(', '):
                self._fail("expected ', ' or ')'")
