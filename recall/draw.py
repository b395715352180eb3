# SPDX-License-Identifier: Apache-2.0
"""List the candidates for ``bugs.toml`` in the order of the draw.

``python -m recall.draw FOLDER`` reads the clones in a folder, as README.md
describes, and prints a line for each candidate: repository, place in the
order of the draw, commit, date, subject.
"""

from __future__ import annotations

import argparse
import hashlib
import pathlib
import subprocess
import sys

SEED = 'vobjects recall 1'

SINCE, UNTIL = '2017-01-01', '2026-09-01'

REPOSITORIES = (
    'PrefectHQ/prefect',
    'dstackai/dstack',
    'mlrun/mlrun',
    'openstack/blazar',
    'openstack/cinder',
    'openstack/cyborg',
    'openstack/designate',
    'openstack/heat',
    'openstack/ironic',
    'openstack/magnum',
    'openstack/manila',
    'openstack/masakari',
    'openstack/mistral',
    'openstack/neutron',
    'openstack/neutron-lib',
    'openstack/nova',
    'openstack/octavia',
    'openstack/os-vif',
    'openstack/placement',
    'openstack/sahara',
    'openstack/senlin',
    'openstack/tacker',
    'openstack/trove',
    'openstack/watcher',
    'openstack/zun',
    'pulp/pulpcore',
    'shakenfist/shakenfist',
)

#: A word about peers or data of another release, in the message.
_SKEW = '|'.join(
    (
        'back-?level',
        'make_compatible',
        '_convert_to_version',
        'rolling[- ]?upgrade',
        'mixed[- ]version',
        'version pin|pinned',
        'upgrade_levels',
        'object version',
        'IncompatibleObject',
        '(during|after|before) (an |the )?upgrad',
        'upgraded',
        '(back|for)wards?[- ]?compat',
        r'\b(older|old|previous|newer|un-?upgraded|N-1)[ -](compute|agent'
        '|conductor|engine|api|client|server|peer|service|node|worker|runner'
        '|shim|release|version)s?',
    )
)

#: A word about a repair, in the message.
_REPAIR = (
    r'\b(fix|fixes|fixed|correct|handle|repair|restore|prevent|avoid|revert'
    r'|make)\b|(closes|related|partial)-bug'
)

#: Code that converts between versions, in the changed lines.
_CONVERSION = (
    'obj_make_compatible|_convert_to_version|convert_version_to_tuple'
    '|target_version|instructions_to_migrate'
)

#: Code that declares or reads what crosses releases, without tests.
_FILES = (
    *(
        f':(glob)**/{pattern}'
        for pattern in (
            'api/definitions/**/*.py',
            'baseobject.py',
            'compatibility/**/*.py',
            'guestagent/api.py',
            'manager.py',
            'models.py',
            'models/**/*.py',
            'objects/**/*.py',
            'payloads.py',
            'release_mappings.py',
            'rpc/**/*.py',
            'rpcapi.py',
            'schemas/**/*.py',
            'schemas.py',
            'serializers/**/*.py',
            'versions/**/*.py',
        )
    ),
    *(
        f':(exclude,glob)**/{pattern}'
        for pattern in ('db/**', 'drivers/**', 'tests/**', 'test_*')
    ),
)


def candidates(clone: pathlib.Path) -> dict[str, str]:
    """Return the candidates of a clone: commit -> date and subject."""
    searches = (
        ('--all-match', f'--grep={_SKEW}', f'--grep={_REPAIR}'),
        (f'--grep={_REPAIR}', f'-G{_CONVERSION}'),
    )
    found = {}
    for search in searches:
        # -G uses extended, not Perl's, expressions.
        output = subprocess.run(  # noqa: S603
            [
                *('git', '-C', str(clone), 'log', '--no-merges'),
                *(f'--since={SINCE}', f'--until={UNTIL}'),
                *('--perl-regexp', '--regexp-ignore-case', *search),
                *('--date=short', '--format=%H %cd %s', '--', *_FILES),
            ],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for line in output.splitlines():
            commit, _, description = line.partition(' ')
            found[commit] = description
    return found


def place(*words: str) -> str:
    """Return the sort key of an item in the draw."""
    return hashlib.sha256(':'.join((SEED, *words)).encode()).hexdigest()


def main() -> None:
    """Print the candidates of all repositories."""
    parser = argparse.ArgumentParser(prog='python -m recall.draw')
    parser.add_argument(
        'folder', type=pathlib.Path, help='holds OWNER/NAME for each clone'
    )
    folder = parser.parse_args().folder
    for repository in REPOSITORIES:
        drawn = sorted(
            candidates(folder / repository).items(),
            key=lambda item: place(repository, item[0]),
        )
        for number, (commit, description) in enumerate(drawn, 1):
            sys.stdout.write(
                f'{repository} {number} {commit[:12]} {description}\n'
            )


if __name__ == '__main__':
    main()
