# SPDX-License-Identifier: Apache-2.0
"""Implement ``vobjects lock``, ``vobjects diff`` and ``vobjects history``.

Exit codes: 0 no findings, 1 findings, 2 bad input.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import pathlib
import sys
from collections.abc import Callable, Iterator

from vobjects import service
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

Run = Callable[[argparse.Namespace], int]


def main(argv: list[str]) -> int:
    """Run ``vobjects lock COMMAND``.

    :param argv: the arguments after ``lock``
    :returns: 0; 1 with findings
    :raises vobjects.exceptions.VobjectsError: an error that the user can fix
    :raises SystemExit: raised by argparse
    """
    options = _lock_parser().parse_args(argv)
    run: Run = options.run
    try:
        return run(options)
    except edit.ReleasedVersionChanged as error:
        locate_finding = _locate_in(options.file)
        print(text_report.text(error.result, locate_finding), end='')
        print(f'vobjects lock: {error}', file=sys.stderr)
        return EXIT_FINDINGS


def diff(argv: list[str]) -> int:
    """Run ``vobjects diff A B``; see :func:`main`."""
    parser = argparse.ArgumentParser(
        prog='vobjects diff',
        description='Show the changes from A to B and the peers that they'
        ' break. The exit code is 1 if no conversion covers a breaking'
        ' change.',
        epilog=f'A and B are one of:\n\n{lock_names.SOURCES_HELP}',
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument('old', metavar='A')
    parser.add_argument('new', metavar='B', nargs='?', default='tree')
    _add_file(parser)
    _add_format(parser)
    options = parser.parse_args(argv)
    old = lock_names.resolve(options.old, options.file)
    result = check.diff(old, lock_names.resolve(options.new, options.file))
    if options.format == 'text':
        for line in text_report.covered(result):
            print(line)
    return _report(result, options)


def history(argv: list[str]) -> int:
    """Run ``vobjects history TYPE``; see :func:`main`."""
    parser = argparse.ArgumentParser(
        prog='vobjects history',
        description='Show the versions of a type in the lock, and their'
        ' differences.',
    )
    parser.add_argument('type', metavar='TYPE')
    _add_file(parser)
    options = parser.parse_args(argv)
    lock = parse.load(options.file)
    schemas = lock.types.get(options.type)
    if schemas is None:
        raise LockError(f'{options.file} has no type {options.type!r}')
    for line in _history(schemas):
        print(line)
    return EXIT_OK


# The commands of "vobjects lock"


def _init(options: argparse.Namespace) -> int:
    """Write a lock of the types that are registered now."""
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
    """Compare the code with the lock: exit code 1 if a check fails."""
    lock, code = _load(options)
    services = service.of_types(lock.imports)
    result = check.check(lock, code, _today(), options.file, services)
    return _report(result, options)


def _update(options: argparse.Namespace) -> int:
    """Record the versions in the code that no release has frozen."""
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
    """Update the lock, and freeze all versions under the name of a release."""
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
    """Merge unreleased versions of each type, in the source code."""
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
    """List the rules that the checks apply."""
    width = max(len(rule.id) for rule in RULES)
    for rule in RULES:
        print(f'{rule.id:<{width}}  {rule.purpose}')
    return EXIT_OK


def _load(options: argparse.Namespace) -> tuple[Lock, Lock]:
    """Return the lock, and the code that it describes as a lock."""
    lock = parse.load(options.file)
    lock_names.load(lock, options.file)
    return lock, snapshot.snapshot(lock.imports, lock)


def _report(result: check.Result, options: argparse.Namespace) -> int:
    print(FORMATS[options.format](result, _locate_in(options.file)), end='')
    return EXIT_FINDINGS if result.failing else EXIT_OK


def _locate_in(path: pathlib.Path) -> Locate:
    """Return a function that locates findings in the lock and the source."""

    def locate_finding(finding: check.Finding) -> SourceLocation | None:
        if finding.rule.change_kind in ('expired', 'unused'):
            return first_match(path, rf'accept \S+ {finding.subject} ')
        return locate(finding.type_name, finding.field)

    return locate_finding


def _history(schemas: tuple[TypeSchema, ...]) -> Iterator[str]:
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


@dataclasses.dataclass(frozen=True, slots=True)
class _Command:
    name: str
    run: Run
    arguments: tuple[Callable[[argparse.ArgumentParser], None], ...] = ()


def _add_file(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        '--file',
        type=pathlib.Path,
        default=parse.DEFAULT_PATH,
        metavar='FILE',
        help='lock file (default: %(default)s in the working directory)',
    )


def _add_format(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        '--format',
        choices=sorted(FORMATS),
        default='text',
        help='format of the findings (default: %(default)s)',
    )


def _add_imports(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        '--import',
        dest='imports',
        action='append',
        required=True,
        metavar='IMPORT',
        help='code that registers the types: MODULE, MODULE:CALLABLE or'
        ' PACKAGE.*, for example nova.objects:register_all; may be repeated',
    )


def _add_release(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        'name', metavar='NAME', help='name of the release, for example 1.2.0'
    )
    parser.add_argument(
        '--again',
        action='store_true',
        help='freeze the newest release again, if it is not published yet',
    )


def _add_write(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        '--write',
        action='store_true',
        help='change the source code; without it, the command prints the'
        ' difference',
    )


_COMMANDS = (
    _Command('init', _init, (_add_file, _add_imports)),
    _Command('check', _check, (_add_file, _add_format)),
    _Command('update', _update, (_add_file,)),
    _Command('release', _release, (_add_file, _add_release)),
    _Command('collapse', _collapse, (_add_file, _add_write)),
    _Command('rules', _rules),
)


def _lock_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog='vobjects lock',
        description='Keep a record of every released version of every type,'
        ' and compare the code with it.',
        epilog='The checks cover four cases:'
        f' {"; ".join(DIRECTIONS.values())}.',
    )
    commands = parser.add_subparsers(
        title='commands', metavar='COMMAND', required=True
    )
    for command in _COMMANDS:
        summary = (command.run.__doc__ or '').partition('.')[0]
        subparser = commands.add_parser(
            command.name, help=summary, description=f'{summary}.'
        )
        subparser.set_defaults(run=command.run)
        for add_argument in command.arguments:
            add_argument(subparser)
    return parser
