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
import tomllib

RULE = tomllib.loads(
    pathlib.Path(__file__).with_suffix('.toml').read_text('utf-8')
)


def candidates(clone: pathlib.Path, wide: bool = False) -> dict[str, str]:
    """Return the candidates of a clone: commit -> date and subject.

    :param wide: search all Python code, not only the files of the rule
    """
    repair = f'--grep={RULE["repair"]}'
    searches = (
        ('--all-match', f'--grep={"|".join(RULE["skew"])}', repair),
        (repair, f'-G{RULE["conversion"]}'),
    )
    names = ('*.py',) if wide else RULE['files']
    files = [f':(glob)**/{name}' for name in names]
    files += [f':(exclude,glob)**/{name}' for name in RULE['without']]
    found = {}
    for search in searches:
        output = subprocess.run(  # noqa: S603 - words of the rule
            [
                *('git', '-C', str(clone), 'log', '--no-merges'),
                *(f'--since={RULE["since"]}', f'--until={RULE["until"]}'),
                *('--perl-regexp', '--regexp-ignore-case', *search),
                *('--date=short', '--format=%H %cd %s', '--', *files),
            ],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for line in output.splitlines():
            commit, _, description = line.partition(' ')
            found[commit] = description
    return found


def place(*words: str, seed: str = RULE['seed']) -> str:
    """Return the sort key of an item in the draw."""
    return hashlib.sha256(':'.join((seed, *words)).encode()).hexdigest()


def main() -> None:
    """Print the candidates of all repositories."""
    parser = argparse.ArgumentParser(prog='python -m recall.draw')
    parser.add_argument(
        'folder', type=pathlib.Path, help='holds OWNER/NAME for each clone'
    )
    parser.add_argument('--seed', default=RULE['seed'], help='(%(default)s)')
    parser.add_argument(
        '--wide', action='store_true', help='search all Python code'
    )
    options = parser.parse_args()
    for repository in RULE['repositories']:
        drawn = sorted(
            candidates(options.folder / repository, options.wide).items(),
            key=lambda item: place(repository, item[0], seed=options.seed),
        )
        for number, (commit, description) in enumerate(drawn, 1):
            sys.stdout.write(
                f'{repository} {number} {commit[:12]} {description}\n'
            )


if __name__ == '__main__':
    main()
