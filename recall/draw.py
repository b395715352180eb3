# SPDX-License-Identifier: Apache-2.0
"""List the candidates for a list of bugs in the order of the draw.

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
from typing import Any

Rule = dict[str, Any]


def load(path: pathlib.Path) -> Rule:
    """Read the words, files and repositories of a list."""
    return tomllib.loads(path.read_text('utf-8'))


#: The rule of the first list.
FIRST = pathlib.Path(__file__).with_suffix('.toml')


def candidates(clone: pathlib.Path, rule: Rule) -> dict[str, str]:
    """Return the candidates of a clone: commit -> date and subject."""
    repair = f'--grep={rule["repair"]}'
    searches = [('--all-match', f'--grep={"|".join(rule["skew"])}', repair)]
    if 'conversion' in rule:
        searches.append((repair, f'-G{rule["conversion"]}'))
    files = [f':(glob)**/{name}' for name in rule['files']]
    files += [f':(exclude,glob)**/{name}' for name in rule['without']]
    found = {}
    for search in searches:
        output = subprocess.run(  # noqa: S603 - words of the rule
            [
                *('git', '-C', str(clone), 'log', '--no-merges'),
                *(f'--since={rule["since"]}', f'--until={rule["until"]}'),
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


def place(seed: str, *words: str) -> str:
    """Return the sort key of an item in the draw."""
    return hashlib.sha256(':'.join((seed, *words)).encode()).hexdigest()


def main() -> None:
    """Print the candidates of all repositories."""
    parser = argparse.ArgumentParser(prog='python -m recall.draw')
    parser.add_argument(
        'folder', type=pathlib.Path, help='holds OWNER/NAME for each clone'
    )
    parser.add_argument(
        '--rule', type=pathlib.Path, default=FIRST, help='(%(default)s)'
    )
    options = parser.parse_args()
    rule = load(options.rule)
    for repository in rule['repositories']:
        drawn = sorted(
            candidates(options.folder / repository, rule).items(),
            key=lambda item: place(rule['seed'], repository, item[0]),
        )
        for number, (commit, description) in enumerate(drawn, 1):
            sys.stdout.write(
                f'{repository} {number} {commit[:12]} {description}\n'
            )


if __name__ == '__main__':
    main()
