# SPDX-License-Identifier: Apache-2.0
"""Run the commands that :mod:`vobjects.cli.lock` describes."""

from __future__ import annotations

import argparse
import collections
import datetime
import pathlib
import re
import sys
from collections.abc import Iterator
from typing import Any

from vobjects import exceptions, service, suggestions
from vobjects.cli import output, terminal
from vobjects.lock import (
    check,
    drop,
    edit,
    golden,
    lock_names,
    parse,
    registries,
    reports,
    snapshot,
    source_code,
    text,
)
from vobjects.lock.model import Lock, LockError, TypeSchema
from vobjects.lock.rules import RULES
from vobjects.versions import Version

EXIT_OK, EXIT_FINDINGS = 0, 1

#: First word of a line of a report -> style.
_LEVELS = {'error': 'bad', 'accepted': 'warning', 'OK': 'good'}


# "vobjects diff" and "vobjects history"


def diff_locks(options: argparse.Namespace) -> int:
    """Show the changes between two locks."""
    old = lock_names.resolve(options.old, options.file)
    result = check.diff(old, lock_names.resolve(options.new, options.file))
    if options.output == output.TABLE:
        for line in reports.covered_lines(result):
            print(line)
    return _report(result, options)


def show_history(options: argparse.Namespace) -> int:
    """Show the versions of a type."""
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


def init_lock(options: argparse.Namespace) -> int:
    """Write a lock of the registered types."""
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
        f'{options.file}: {reports.count(len(lock.types), "type")} in'
        f' {reports.count(len(lock.schemas), "version")};'
        f' "{parse.command("release NAME", options.file)}" freezes them'
    )
    return EXIT_OK


def check_code(options: argparse.Namespace) -> int:
    """Compare the code with the lock."""
    lock, code = lock_names.lock_and_code(options.file)
    services = service.of_types(lock.imports)
    today = datetime.datetime.now(datetime.UTC).date()
    result = check.check(lock, code, today, options.file, services)
    return _report(result, options)


def update_lock(options: argparse.Namespace) -> int:
    """Record the unreleased versions of the code."""
    lock, code = lock_names.lock_and_code(options.file)
    updated = _updated(lock, code)
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


def release_lock(options: argparse.Namespace) -> int:
    """Update the lock, and freeze its versions."""
    lock, code = lock_names.lock_and_code(options.file)
    if options.again:
        lock = edit.unfreeze(lock, options.name)
    edit.check_new(lock, options.name)
    lock = edit.release(_updated(lock, code), options.name, code)
    golden_file = golden.write(options.file, options.name, code)
    _write(options.file, lock)
    frozen = reports.count(len(lock.at(options.name).schemas), 'version')
    print(
        f'{options.file}: release {options.name} freezes {frozen};'
        f' {golden_file} contains the primitives'
    )
    return EXIT_OK


def drop_versions(options: argparse.Namespace) -> int:
    """Drop versions in the source code, and in the lock."""
    lock, code = lock_names.lock_and_code(options.file)
    below = Version.parse(options.below)
    current = _updated(lock, code)
    files: source_code.Files = {}
    dropped = []
    for item in drop.drops(code, below):
        versions = ', '.join(item.versions)
        if item.obstacle:
            print(f'{item.type_name} {versions}: kept, {item.obstacle}')
            continue
        print(f'{item.type_name} {versions}: dropped, {item.oldest} is oldest')
        dropped.append(item)
        cls = registries.newest(item.type_name)
        assert cls is not None
        drop.rewrite(cls, item, files)
    print(f'clients of microversions below {below} are refused')
    for agent, count in _agents(options.metrics, below):
        print(f'  {agent}: {count} requests')
    releases = drop.unsupported(lock, dropped)
    for release in releases:
        print(
            f'processes of release {release} cannot join a fleet any more, and'
            ' its rows and messages cannot be read'
        )
    if not options.write:
        print(source_code.difference(files), end='')
        return EXIT_OK
    for path, (_before, after) in files.items():
        path.write_text(after)
    for release in releases:
        golden.path_of(options.file, release).unlink(missing_ok=True)
    _write(options.file, drop.without(current, dropped))
    print(
        f'remove the microversions below {below} from the history of the'
        ' service, the branches of controllers for them, and unused imports;'
        f' then run "{parse.command("check", options.file)}"'
    )
    return EXIT_OK


def _agents(
    path: pathlib.Path | None, below: Version
) -> list[tuple[str, int]]:
    """Return the clients that use older microversions, and their requests.

    :raises LockError: the file has no metrics of an API
    """
    if path is None:
        return []
    # Imported here: an optional dependency.
    from prometheus_client import parser

    counts: collections.Counter[str] = collections.Counter()
    try:
        for family in parser.text_string_to_metric_families(path.read_text()):
            for sample in family.samples:
                labels = sample.labels
                if sample.name.endswith('_uses_total') and (
                    Version.parse(labels['version']) < below
                ):
                    counts[labels['agent']] += int(sample.value)
    except (OSError, ValueError, KeyError, exceptions.InvalidVersion) as error:
        raise LockError(
            f'{path} is no response of GET /metrics:'
            f' {type(error).__name__}: {error}'
        ) from None
    return counts.most_common()


def list_rules(options: argparse.Namespace) -> int:
    """List the rules."""
    data = [
        {'id': rule.id, 'scope': rule.scope, 'purpose': rule.purpose}
        for rule in RULES
    ]
    rows = [(rule.id, rule.purpose) for rule in RULES]
    output.show(options, data, output.table(('RULE', 'PURPOSE'), rows))
    return EXIT_OK


def _updated(lock: Lock, code: Lock) -> Lock:
    """Return the updated lock; report changes of released versions."""
    today = datetime.datetime.now(datetime.UTC).date()
    try:
        return edit.update(lock, code, today)
    except edit.ReleasedVersionChanged as error:
        print(_coloured(reports.text(error.result)), end='')
        raise


def _report(result: check.Result, options: argparse.Namespace) -> int:
    if options.output == output.TABLE:
        text_ = _coloured(reports.text(result))
    elif options.output == 'github':
        text_ = reports.github(result)
    else:
        text_ = output.dump(reports.as_data(result), options.output)
    print(text_, end='')
    return EXIT_FINDINGS if result.failing else EXIT_OK


def _coloured(report: str) -> str:
    """Colour the first lines of findings, and the summary."""
    screen = terminal.Terminal(sys.stdout)
    return re.sub(
        f'^({"|".join(_LEVELS)})',
        lambda match: screen.styled(_LEVELS[match[0]], match[0]),
        report,
        flags=re.MULTILINE,
    )


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
    names = {field.name for each in (before, schema) for field in each.fields}
    for name in sorted(names):
        old, new = before.field(name), schema.field(name)
        if old and old != new:
            yield f'  - {text.field_text(old)}'
        if new and old != new:
            yield f'  + {text.field_text(new)}'
    for conversion in schema.conversions:
        yield f'    {conversion}'


def _write(path: pathlib.Path, lock: Lock) -> None:
    """Replace a lock file as a whole, or leave it unchanged."""
    temporary = path.with_name(f'{path.name}.new')
    temporary.write_text(text.dump(lock))
    temporary.replace(path)
