# SPDX-License-Identifier: Apache-2.0
"""Compare the releases of services with the tools of this library.

Three checks compare the releases of a service:

``lock``
    ``vobjects lock check``: the code of a release with the lock of the one
    before.
``matrix``
    ``vobjects transfers``: transfers between two neighbors.
``unconverted``
    ``vobjects transfers --no-convert``, only for services that never pass the
    version of a peer to a conversion.
``invariants``
    ``vobjects_invariants``: the newest code with the lock of each release.

The results are the data of the page *State of versioned objects*.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import datetime
import fcntl
import itertools
import json
import pathlib
import platform
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import yaml

from tests.adoption import environments, services
from tests.adoption.environments import Environment
from vobjects import exceptions
from vobjects.lock import parse
from vobjects_releases.transfers import Transfer, transfer_all

DOC = environments.ROOT / 'doc/source'
RESULTS = DOC / 'state_of_versioned_objects.yaml'
REVIEWS = DOC / 'versioned_object_reviews.yaml'

#: The lock of an older release cannot have newer versions.
EXPECTED_RULE = 'LOCK_CURRENT'

#: A conversion is missing.
CONVERSION_RULE = 'CONVERSION_NO_REMOVE'

write = sys.stdout.write


@dataclasses.dataclass(frozen=True, slots=True)
class Finding:
    """A problem that a check reports.

    :ivar check: ``lock``, ``matrix``, ``unconverted`` or ``invariants``
    :ivar code: rule of the lock, outcome of the transfer, or invariant
    :ivar field: empty: the whole type
    """

    check: str
    old: str
    new: str
    code: str
    severity: str
    type: str
    field: str
    detail: str


def main() -> int:
    """Check the services that the arguments name; return the exit code."""
    parser = argparse.ArgumentParser(
        prog='tools/state-of-versioned-objects',
        description='Compare the last releases of services with "vobjects'
        ' lock", "vobjects matrix" and the invariants, and check the lines'
        f' that {REVIEWS.name} quotes. The results replace those in'
        f' {RESULTS.name}. Each service needs up to 1.5 GB.',
    )
    parser.add_argument(
        'services',
        nargs='*',
        metavar='SERVICE',
        default=sorted(services.SERVICES),
        help=f'{", ".join(sorted(services.SERVICES))} (default: all)',
    )
    parser.add_argument(
        '--cache',
        type=pathlib.Path,
        default=environments.default_cache(),
        metavar='DIRECTORY',
        help='directory of the environments (default: %(default)s)',
    )
    options = parser.parse_args()
    unknown = set(options.services) - services.SERVICES.keys()
    if unknown:
        parser.error(f'unknown services: {", ".join(sorted(unknown))}')
    failed = False
    for name in options.services:
        releases = [
            Environment(name, release, options.cache / f'{name}-{release}')
            for release in services.SERVICES[name].releases
        ]
        write(f'== {name} {", ".join(item.release for item in releases)}\n')
        try:
            for environment in releases:
                environment.install()
            results = examine(name, releases)
        except (
            environments.CommandFailed,
            exceptions.VobjectsError,
        ) as error:
            write(f'{error}\n')
            failed = True
            continue
        save(name, results)
        write(f'{len(results["findings"])} findings\n')
        for problem in wrong_quotes(name, releases):
            write(f'{REVIEWS.name}: {problem}\n')
            failed = True
    return 1 if failed else 0


def examine(name: str, releases: list[Environment]) -> dict[str, Any]:
    """Return the results of all checks of a service.

    :param releases: environments of its releases, oldest first
    :raises CommandFailed: a command fails other than by findings
    """
    service = services.SERVICES[name]
    imports = service.imports
    findings: list[Finding] = []
    pairs = []
    with tempfile.TemporaryDirectory() as directory:
        locks = {
            environment.release: lock(
                environment, imports, pathlib.Path(directory)
            )
            for environment in releases
        }
        for old, new in itertools.pairwise(releases):
            findings += lock_findings(old, new, locks)
            transfers = transfer_all(old.directory, new.directory, [imports])
            findings += transfer_findings('matrix', old, new, transfers)
            if not service.converts:
                unconverted = transfer_all(
                    old.directory, new.directory, [imports], convert=False
                )
                findings += transfer_findings(
                    'unconverted', old, new, unconverted
                )
                transfers += unconverted
            pairs.append(
                {
                    'old': old.release,
                    'new': new.release,
                    'transfers': len(transfers),
                }
            )
        cases = 0
        for old in releases:
            count, violations = invariant_findings(
                old, releases[-1], locks[old.release]
            )
            cases += count
            findings += violations
        types = {
            release: sum(
                line.startswith('type ')
                for line in path.read_text().splitlines()
            )
            for release, path in locks.items()
        }
    return {
        'measured': datetime.datetime.now(datetime.UTC).date(),
        'python': platform.python_version(),
        'import': imports,
        'distribution': service.distribution or name,
        'releases': [
            {
                'release': environment.release,
                'types': types[environment.release],
                'oslo.versionedobjects': environment.version(
                    'oslo.versionedobjects'
                ),
            }
            for environment in releases
        ],
        'pairs': pairs,
        'invariant_cases': cases,
        'findings': [
            dataclasses.asdict(item) for item in dict.fromkeys(findings)
        ],
    }


def lock(
    environment: Environment, imports: str, directory: pathlib.Path
) -> pathlib.Path:
    """Write the lock of a release, and return its path."""
    folder = directory / environment.release
    folder.mkdir()
    command = ('-m', 'vobjects', 'lock')
    environment.run(*command, 'init', '--import', imports, cwd=folder)
    environment.run(*command, 'release', environment.release, cwd=folder)
    return folder / 'vobjects.lock'


def lock_findings(
    old: Environment,
    new: Environment,
    locks: Mapping[str, pathlib.Path],
) -> Iterator[Finding]:
    """Yield the findings of ``vobjects lock check``.

    :param locks: the lock of each release
    """
    path = locks[old.release]
    output = new.run(
        *('-m', 'vobjects', 'lock', 'check', '-o', 'json'),
        *('--file', str(path)),
        cwd=path.parent,
        exit_codes=(0, 1),
    )
    versions = collections.defaultdict(set)
    for lock_path in locks.values():
        for schema in parse.load(lock_path).schemas:
            versions[schema.name].add(schema.version)
    for item in json.loads(output)['findings']:
        if item['covered_by'] or item['rule'] == EXPECTED_RULE:
            continue
        broken = sorted(
            {
                order['why']
                for order in item['orders'].values()
                if not order['works']
            }
        )
        yield Finding(
            'lock',
            old.release,
            new.release,
            item['rule'],
            # A conversion may disappear after the versions that need it.
            'note'
            if item['rule'] == CONVERSION_RULE
            and len(versions[item['type']]) == 1
            else 'error',
            item['type'],
            item['field'] or '',
            '; '.join([item['what'], *broken]),
        )


def transfer_findings(
    check: str,
    old: Environment,
    new: Environment,
    transfers: Iterable[Transfer],
) -> Iterator[Finding]:
    """Yield the transfers with problems, one per field."""
    for item in transfers:
        if item.outcome == 'fine':
            continue
        fields, error = [''], item.detail
        if item.outcome in ('lost', 'mislabelled'):
            fields, error = item.detail.split(', '), ''
        for field in fields:
            details = (
                f'{item.sender} to {item.receiver} ({item.direction})',
                error,
                item.reason,
                f'sent {item.sent}' if item.sent else '',
            )
            yield Finding(
                check,
                old.release,
                new.release,
                item.outcome,
                item.severity,
                item.type_name,
                field,
                '; '.join(filter(None, details)),
            )


def invariant_findings(
    old: Environment, new: Environment, path: pathlib.Path
) -> tuple[int, list[Finding]]:
    """Return the number of cases, and the violations."""
    output = new.run(
        *('-m', 'tests.adoption.locked_invariants', str(path)),
        cwd=path.parent,
    )
    document = json.loads(output)
    return document['cases'], [
        Finding(
            'invariants',
            old.release,
            new.release,
            item['code'],
            'error',
            item['type'],
            item['field'],
            item['detail'],
        )
        for item in document['violations']
    ]


def save(name: str, results: dict[str, Any]) -> None:
    """Replace the results of a service in the file."""
    with RESULTS.open('a+') as file:
        # Others may check another service at the same time.
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        document = {**(yaml.safe_load(file) or {}), name: results}
        file.truncate(0)
        file.write('# Written by tools/state-of-versioned-objects.\n')
        yaml.safe_dump(document, file, sort_keys=True, width=78)


def wrong_quotes(name: str, releases: list[Environment]) -> Iterator[str]:
    """Yield the quotes in the reviews that the installed code contradicts."""
    packages = {item.release: item.packages for item in releases}
    for review in yaml.safe_load(REVIEWS.read_text()):
        if review['service'] != name:
            continue
        for quote in review['evidence']:
            directory = packages.get(quote.get('release', review['release']))
            if directory is None:
                yield f'{name} has no environment for {quote}'
            elif not is_right(quote, directory / quote['file']):
                yield f'{directory} contradicts {quote}'


def is_right(quote: dict[str, Any], path: pathlib.Path) -> bool:
    """Return whether a file has the quoted line, or lacks a text.

    :param quote: ``line`` and ``text``; or ``without``, a text that no line
        contains; if ``path`` is a directory, no Python file in it
    """
    if 'line' in quote:
        lines = path.read_text().splitlines()
        return bool(
            quote['line'] <= len(lines)
            and lines[quote['line'] - 1].strip() == quote['text']
        )
    files = path.rglob('*.py') if path.is_dir() else [path]
    return not any(
        quote['without'] in file.read_text()
        for file in files
        if 'tests' not in file.relative_to(path).parts
    )
