# SPDX-License-Identifier: Apache-2.0
"""Implement ``vobjects lock``, ``vobjects diff`` and ``vobjects history``.

Exit codes: 0 no findings, 1 findings, 2 bad input.
"""

from __future__ import annotations

import argparse
import datetime
import json
import pathlib
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from vobjects import exceptions, service, suggestions
from vobjects.cli import completion, output, terminal
from vobjects.cli.parser import Command, Parser, Run
from vobjects.lock import (
    check,
    collapse,
    edit,
    golden,
    lock_names,
    parse,
    registries,
    snapshot,
    text,
)
from vobjects.lock.model import Lock, LockError, TypeSchema
from vobjects.lock.report import FORMATS, text_report
from vobjects.lock.report.text_report import Locate
from vobjects.lock.rules import DIRECTIONS, RULES
from vobjects.lock.source_location import SourceLocation, first_match, locate

EXIT_OK, EXIT_FINDINGS = 0, 1

_EXIT_CODES = 'Exit codes: 0 no findings; 1 findings; 2 invalid arguments.'

#: ``--output`` -> format of reports, where the two names differ.
_REPORTS = {output.TABLE: 'text'}

_OUTPUTS = (
    *output.FORMATS,
    *(name for name in FORMATS if name not in ('text', output.JSON)),
)


#: First word of a line of a report -> style.
_LEVELS = {'error': 'bad', 'accepted': 'warning', 'OK': 'good'}


# "vobjects diff" and "vobjects history"


def _diff(options: argparse.Namespace) -> int:
    old = lock_names.resolve(options.old, options.file)
    result = check.diff(old, lock_names.resolve(options.new, options.file))
    if options.output == output.TABLE:
        for line in text_report.covered(result):
            print(line)
    return _report(result, options)


def _history(options: argparse.Namespace) -> int:
    lock = parse.load(options.file)
    schemas = lock.types.get(options.type)
    if schemas is None:
        raise LockError(
            f'{options.file} has no type {exceptions.cut(options.type)};'
            f' {suggestions.suggest(options.type, lock.types)}'
        )
    output.show(options, _history_data(schemas), _history_lines(schemas))
    return EXIT_OK


# "vobjects lock"


def _init(options: argparse.Namespace) -> int:
    if options.file.exists():
        raise LockError(f'{options.file} already exists')
    lock_names.add_to_import_path(options.file)
    snapshot.load(options.imports)
    lock = snapshot.snapshot(options.imports)
    if not lock.schemas:
        raise LockError(
            f'{", ".join(options.imports)} registered no type; name a function'
            ' that registers them with --import MODULE:CALLABLE, or import all'
            ' modules of a package with --import "PACKAGE.*"'
        )
    _write(options.file, lock)
    print(
        f'{options.file}: {len(lock.types)} types in {len(lock.schemas)}'
        f' versions; "{parse.command("release NAME", options.file)}" freezes'
        ' them'
    )
    return EXIT_OK


def _check(options: argparse.Namespace) -> int:
    lock, code = _load(options)
    services = service.of_types(lock.imports)
    result = check.check(lock, code, _today(), options.file, services)
    return _report(result, options)


def _update(options: argparse.Namespace) -> int:
    lock, code = _load(options)
    updated = edit.update(lock, code, _today())
    changed = {
        (schema.name, schema.version)
        for schema in set(lock.schemas) ^ set(updated.schemas)
    }
    _write(options.file, updated)
    for name, version in sorted(changed):
        print(f'{options.file}: {name} {version}')
    if not changed:
        print(f'{options.file} is current')
    return EXIT_OK


def _release(options: argparse.Namespace) -> int:
    lock, code = _load(options)
    if options.again:
        lock = edit.unfreeze(lock, options.name)
    edit.check_new(lock, options.name)
    lock = edit.release(edit.update(lock, code, _today()), options.name, code)
    golden_file = golden.write(options.file, options.name, code)
    _write(options.file, lock)
    print(
        f'{options.file}: release {options.name} freezes'
        f' {len(lock.at(options.name).schemas)} versions; {golden_file} has'
        ' their primitives'
    )
    return EXIT_OK


def _collapse(options: argparse.Namespace) -> int:
    lock, code = _load(options)
    current = edit.update(lock, code, _today())
    files: collapse.Files = {}
    for merge in collapse.merges(current):
        versions = ', '.join(merge.versions)
        if merge.obstacle:
            print(f'{merge.type_name} {versions}: kept, {merge.obstacle}')
            continue
        print(f'{merge.type_name} {versions}: merged into {merge.into}')
        cls = registries.class_of(merge.type_name, merge.versions[-1])
        collapse.rewrite(cls, merge, files)
    if not options.write:
        print(collapse.difference(files), end='')
        return EXIT_OK
    for path, (_before, after) in files.items():
        path.write_text(after)
    if files:
        print(f'run "{parse.command("update", options.file)}"')
    return EXIT_OK


def _rules(options: argparse.Namespace) -> int:
    data = [
        {'id': rule.id, 'scope': rule.scope, 'purpose': rule.purpose}
        for rule in RULES
    ]
    rows = [(rule.id, rule.purpose) for rule in RULES]
    output.show(options, data, output.table(('RULE', 'PURPOSE'), rows))
    return EXIT_OK


def _load(options: argparse.Namespace) -> tuple[Lock, Lock]:
    """Return the lock, and the code that it describes as a lock."""
    lock = parse.load(options.file)
    lock_names.load(lock, options.file)
    return lock, snapshot.snapshot(lock.imports, lock)


def _report(result: check.Result, options: argparse.Namespace) -> int:
    if options.output == output.YAML:
        text_ = FORMATS[output.JSON](result, _locate_in(options.file))
        text_ = output.dump(json.loads(text_), output.YAML)
    else:
        text_ = FORMATS[_REPORTS.get(options.output, options.output)](
            result, _locate_in(options.file)
        )
    if options.output == output.TABLE:
        text_ = _coloured(text_)
    print(text_, end='')
    return EXIT_FINDINGS if result.failing else EXIT_OK


def _coloured(report: str) -> str:
    """Colour the first lines of findings, and the summary."""
    screen = terminal.Terminal(sys.stdout)
    lines = []
    for line in report.splitlines():
        level = re.match(r'error|accepted|OK', line)
        if level:
            style = _LEVELS[level[0]]
            line = screen.styled(style, level[0]) + line[level.end() :]
        lines.append(line)
    return '\n'.join([*lines, ''])


def _locate_in(path: pathlib.Path) -> Locate:
    """Return a function that locates findings in the lock and the source."""

    def locate_finding(finding: check.Finding) -> SourceLocation | None:
        if finding.rule.change_kind in ('expired', 'unused'):
            return first_match(path, rf'accept \S+ {finding.subject} ')
        return locate(finding.type_name, finding.field)

    return locate_finding


def _history_lines(schemas: tuple[TypeSchema, ...]) -> Iterator[str]:
    before: TypeSchema | None = None
    for schema in schemas:
        notes = [f'released in {schema.release}' if schema.release else 'new']
        if schema.until:
            notes.append(f'removed in {schema.until}')
        if schema.microversion:
            notes.append(f'since microversion {schema.microversion}')
        yield f'{schema}: {", ".join(notes)}'
        if before is None:
            for field in schema.fields:
                yield f'    {text.field_text(field)}'
        else:
            yield from _steps(before, schema)
        before = schema


def _history_data(schemas: tuple[TypeSchema, ...]) -> list[dict[str, Any]]:
    return [
        {
            'type': schema.name,
            'version': schema.version,
            'release': schema.release or None,
            'removed_in': schema.until or None,
            'microversion': schema.microversion or None,
            'fields': {
                field.name: text.field_text(field) for field in schema.fields
            },
            'conversions': [str(item) for item in schema.conversions],
        }
        for schema in schemas
    ]


def _steps(before: TypeSchema, schema: TypeSchema) -> Iterator[str]:
    old = {field.name: field for field in before.fields}
    new = {field.name: field for field in schema.fields}
    for name in sorted(old.keys() | new.keys()):
        if old.get(name) == new.get(name):
            continue
        if name in old:
            yield f'  - {text.field_text(old[name])}'
        if name in new:
            yield f'  + {text.field_text(new[name])}'
    for conversion in schema.conversions:
        yield f'    {conversion}'


def _write(path: pathlib.Path, lock: Lock) -> None:
    """Replace a lock file as a whole, or leave it unchanged."""
    temporary = path.with_name(f'{path.name}.new')
    temporary.write_text(text.dump(lock))
    temporary.replace(path)


def _today() -> datetime.date:
    return datetime.datetime.now(datetime.UTC).date()


# Arguments


def _command(
    run: Run,
    *arguments: Callable[[Parser], None],
    more: str = '',
    examples: Sequence[str],
) -> Callable[[Parser], None]:
    """Return a function that configures the parser of a command."""

    def run_and_explain(options: argparse.Namespace) -> int:
        try:
            return run(options)
        except edit.ReleasedVersionChanged as error:
            report = text_report.text(error.result, _locate_in(options.file))
            print(_coloured(report), end='')
            print(f'vobjects lock: {error}', file=sys.stderr)
            return EXIT_FINDINGS

    def configure(parser: Parser) -> None:
        parser.describe(more, examples=examples)
        parser.set_defaults(run=run_and_explain)
        for add_argument in arguments:
            add_argument(parser)

    return configure


def _add_file(parser: Parser) -> None:
    parser.add_argument(
        '--file',
        type=pathlib.Path,
        default=parse.DEFAULT_PATH,
        metavar='FILE',
        help='lock file (default: %(default)s in the working directory)',
    )


def _add_format(parser: Parser) -> None:
    output.add_option(parser, formats=_OUTPUTS)


def _add_imports(parser: Parser) -> None:
    parser.add_argument(
        '--import',
        dest='imports',
        action='append',
        required=True,
        metavar='IMPORT',
        help='code that registers the types: MODULE, MODULE:CALLABLE or'
        ' PACKAGE.*, for example nova.objects:register_all; may be repeated',
    )


def _add_release(parser: Parser) -> None:
    parser.add_argument(
        'name', metavar='NAME', help='name of the release, for example 1.2.0'
    )
    parser.add_argument(
        '--again',
        action='store_true',
        help='freeze the newest release again, if it is not published yet',
    )


def _add_write(parser: Parser) -> None:
    parser.add_argument(
        '--write',
        action='store_true',
        help='change the source code; without it, the command prints the'
        ' difference',
    )


_COMMANDS = {
    'init': (
        'write a lock of the types that are registered now',
        _command(
            _init,
            _add_file,
            _add_imports,
            examples=['vobjects lock init --import shop.objects:register_all'],
        ),
    ),
    'check': (
        'compare the code with the lock',
        _command(
            _check,
            _add_file,
            _add_format,
            more='The exit code is 1 if a check fails.',
            examples=[
                'vobjects lock check',
                'vobjects lock check -o sarif > lock.sarif  # for CI',
            ],
        ),
    ),
    'update': (
        'record the versions in the code that no release has frozen',
        _command(_update, _add_file, examples=['vobjects lock update']),
    ),
    'release': (
        'update the lock, and freeze all versions under the name of a release',
        _command(
            _release,
            _add_file,
            _add_release,
            examples=['vobjects lock release 1.2.0'],
        ),
    ),
    'collapse': (
        'merge unreleased versions of each type, in the source code',
        _command(
            _collapse,
            _add_file,
            _add_write,
            examples=['vobjects lock collapse --write'],
        ),
    ),
    'rules': (
        'list the rules that the checks apply',
        _command(
            _rules, output.add_option, examples=['vobjects lock rules -o json']
        ),
    ),
}


# The parsers


def _lock_parser() -> Parser:
    parser = Parser(
        prog='vobjects lock',
        description='Keep a record of every released version of every type,'
        ' and compare the code with it.',
        notes='The checks cover four cases:'
        f' {"; ".join(DIRECTIONS.values())}.\n\n{_EXIT_CODES}',
    )
    parser.add_commands(_COMMANDS)
    return parser


def _diff_parser() -> Parser:
    parser = Parser(
        prog='vobjects diff',
        description='Show the changes from A to B and the peers that they'
        ' break.',
        notes=f'A and B are one of:\n\n{lock_names.SOURCES_HELP}\n\n'
        'The exit code is 1 if no conversion covers a breaking change.',
        examples=[
            'vobjects diff HEAD~5  # and the code',
            'vobjects diff release:0.1.0 tree -o json',
        ],
    )
    parser.add_argument('old', metavar='A', help='old side of the comparison')
    parser.add_argument(
        'new',
        metavar='B',
        nargs='?',
        default='tree',
        help='new side of the comparison (default: the code)',
    )
    _add_file(parser)
    _add_format(parser)
    parser.set_defaults(run=_diff)
    return parser


def _history_parser() -> Parser:
    parser = Parser(
        prog='vobjects history',
        description='Show the versions of a type in the lock, and their'
        ' differences.',
        examples=['vobjects history ClusterDeleteRequest'],
    )
    completion.offer(
        parser.add_argument(
            'type', metavar='TYPE', help='name of a type in the lock'
        ),
        lambda: parse.load(parse.DEFAULT_PATH).types,
    )
    _add_file(parser)
    output.add_option(parser)
    parser.set_defaults(run=_history)
    return parser


#: The commands ``vobjects lock``, ``vobjects diff`` and ``vobjects history``.
main = Command(_lock_parser)
diff = Command(_diff_parser)
history = Command(_history_parser)
