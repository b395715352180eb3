# SPDX-License-Identifier: Apache-2.0
"""Whether the history tells what changed, and the page made of both.

A change is *told* if the entry of its microversion names it: a property or a
parameter by its name, a status by its number, an operation by ``METHOD
/path``, by the last fixed segment of its path, or by its action's key.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from vobjects.contract import changes, walk
from vobjects.contract.changes import Change
from vobjects.contract.registry import Contract
from vobjects.microversions import retirement
from vobjects.versions import Version

#: What the page says of a microversion that changed nothing.
NOTHING = 'No change of what is asked or answered.'


def problems(contract: Contract) -> Iterator[str]:
    """Yield what the history lacks, and what no history can excuse."""
    yield from _entries(contract)
    for old, new in itertools.pairwise(contract.versions):
        told = ' '.join(contract.history.get(str(new), ()))
        for change in changes.between(contract, old, new):
            if not any(_names(told, word) for word in words(change)):
                yield (
                    f'{new}: the history does not tell that {change}; name'
                    f' {" or ".join(map(repr, words(change)))} in its entry'
                )
    for one in changes.returned(contract):
        yield f'{one.back}: {one}'


def words(change: Change) -> list[str]:
    """Return the words of which an entry needs one to tell a change."""
    place = walk.named(change.place)
    status = re.fullmatch(r'response (\d+)', place)
    if status:
        return [status[1]]
    if '.' in place:
        return [change.subject]
    method, path, *key = change.operation.split()
    fixed = [part for part in path.split('/') if part and '{' not in part]
    found = [f'{method} {path}', *fixed[-1:]]
    return [key[0].strip('()')] if key else found


def page(contract: Contract) -> str:
    """Return what each microversion brought, in reStructuredText.

    Below the sentences of the history stands what the contract itself says.
    """
    lines: list[str] = []
    before: Version | None = None
    for version in contract.versions:
        lines += [f'**{version}**', '']
        if retired := retirement.of(contract.policy.retired, version):
            lines += [f'    *On its way out: {retired}.*', '']
        said = contract.history.get(str(version), ())
        found = (
            changes.between(contract, before, version)
            if before is not None
            else []
        )
        if not said and not found:
            said = (NOTHING,)
        lines += [f'    {" ".join(said)}', ''] if said else []
        lines += [f'    - {line}' for line in _listed(found)]
        lines += [''] if found else []
        before = version
    return '\n'.join(lines)


def groups(found: Sequence[Change]) -> list[tuple[Change, list[str]]]:
    """Return the changes, those that differ in the operation only as one.

    A resource that changed has done so in many answers.

    :returns: the first change of each group, and the names of operations
    """
    together: dict[tuple[str, str, str, bool], tuple[Change, list[str]]] = {}
    for change in found:
        part = change.place.partition('.')[0]
        if change.place and '.' in change.place:
            part = part.split()[0]
        key = (part, change.subject, change.what, change.breaking)
        if not change.place:
            key = (change.operation, *key[1:])
        names = together.setdefault(key, (change, []))[1]
        if change.operation not in names:
            names.append(change.operation)
    return list(together.values())


def _entries(contract: Contract) -> Iterator[str]:
    known = [str(version) for version in contract.versions]
    for text in known:
        if text not in contract.history:
            yield f'{text}: the history has no entry'
    for text in contract.history:
        if text not in known:
            yield (
                f'{text}: the history has an entry, but the service has'
                f' {known[0]} to {known[-1]}'
            )
    written = [text for text in contract.history if text in known]
    ordered = sorted(written, key=Version.parse)
    if written != ordered:
        yield 'the history is not in the order of its versions'


def _names(text: str, word: str) -> bool:
    """Tell whether a text has a word; ``-`` and ``_`` may be spaces."""
    pattern = re.sub(r'\\?[-_]', '[-_ ]', re.escape(word))
    return bool(re.search(rf'(?<![\w/]){pattern}(?![\w/])', text, re.I))


def _listed(found: Sequence[Change]) -> Iterator[str]:
    for change, operations in groups(found):
        names = ', '.join(f'``{name}``' for name in operations)
        kind = ' (breaking)' if change.breaking else ''
        if not change.place:
            yield f'{names} {change.what}{kind}'
            continue
        where = 'answer' if change.place.startswith('response') else 'request'
        subject = (
            change.place
            if re.fullmatch(r'response \d+|body|query', change.place)
            else f'``{change.subject}`` of the {where}'
        )
        yield f'{subject} {change.what}{kind}: {names}'
