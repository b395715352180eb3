# SPDX-License-Identifier: Apache-2.0
"""Check the API history against the contract, and render both as a page.

A change is *documented* if the history entry of its microversion names it: a
property or parameter by its name, a status by its number, an operation by
``METHOD /path``, by the last fixed segment of its path, or by its action's
key.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from vobjects.microversions import retirement
from vobjects.versions import Version
from vobjects_contract import changes, schema_tree
from vobjects_contract.changes import ContractChange
from vobjects_contract.registry import Contract

#: Text of the page for a microversion without changes.
NO_CHANGES = 'No change of requests or responses.'


def problems(contract: Contract) -> Iterator[str]:
    """Yield the problems of the history, each as one line.

    These are missing, unknown and misplaced entries, changes that no entry
    documents, and parts that were removed and came back, which no entry can
    excuse.
    """
    yield from _entries(contract)
    for old, new in itertools.pairwise(contract.versions):
        entry = ' '.join(contract.history.get(str(new), ()))
        for change in changes.compare(contract, old, new):
            words = accepted_words(change)
            if not any(_names(entry, word) for word in words):
                yield (
                    f'{new}: the history does not document that {change}; add'
                    f' {" or ".join(map(repr, words))} to its entry'
                )
    for part in changes.returned_parts(contract):
        yield f'{part.returned_in}: {part}'


def accepted_words(change: ContractChange) -> list[str]:
    """Return words of which the history entry must contain at least one."""
    location = schema_tree.drop_unnamed_steps(change.location)
    status = re.fullmatch(r'response (\d+)', location)
    if status:
        return [status[1]]
    if '.' in location:
        return [change.subject]
    method, path, *key = change.operation.split()
    fixed = [part for part in path.split('/') if part and '{' not in part]
    words = [f'{method} {path}', *fixed[-1:]]
    return [key[0].strip('()')] if key else words


def page(contract: Contract) -> str:
    """Return the changes of each microversion, in reStructuredText.

    Each version has the sentences of its history entry, followed by the
    changes that the contract shows.
    """
    lines: list[str] = []
    before: Version | None = None
    for version in contract.versions:
        lines += [f'**{version}**', '']
        if retired := retirement.retirement_of(
            contract.policy.retired, version
        ):
            lines += [f'    *Retired: {retired}.*', '']
        entry = contract.history.get(str(version), ())
        found_changes = (
            changes.compare(contract, before, version)
            if before is not None
            else []
        )
        if not entry and not found_changes:
            entry = (NO_CHANGES,)
        lines += [f'    {" ".join(entry)}', ''] if entry else []
        early = _early_changes(contract, before, version, found_changes)
        lines += [
            f'    - {line}' for line in _format_changes(found_changes, early)
        ]
        lines += [''] if found_changes else []
        before = version
    return '\n'.join(lines)


def group_changes(
    found_changes: Sequence[ContractChange],
) -> list[tuple[ContractChange, list[str]]]:
    """Group the changes that differ only in their operation.

    A changed resource appears in the responses of many operations.

    :returns: the first change of each group, and the names of its operations
    """
    groups: dict[
        tuple[str, str, str, bool], tuple[ContractChange, list[str]]
    ] = {}
    for change in found_changes:
        part, has_name, _ = change.location.partition('.')
        part = part.split()[0] if has_name else part or change.operation
        key = (part, change.subject, change.description, change.breaking)
        names = groups.setdefault(key, (change, []))[1]
        if change.operation not in names:
            names.append(change.operation)
    return list(groups.values())


def _entries(contract: Contract) -> Iterator[str]:
    known = [str(version) for version in contract.versions]
    for text in known:
        if text not in contract.history:
            yield (
                f'{text}: the history has no entry; add {text!r} and a'
                ' sentence about its changes'
            )
    for text in contract.history:
        if text not in known:
            yield (
                f'{text}: the history has an entry, but the service has'
                f' {known[0]} to {known[-1]}; delete the entry, or change the'
                ' range of the version policy'
            )
    entries = [text for text in contract.history if text in known]
    if entries != sorted(entries, key=Version.parse):
        yield 'the history must be in the order of its versions'


def _names(text: str, word: str) -> bool:
    """Return whether a text contains a word; ``-`` and ``_`` match spaces."""
    pattern = re.sub(r'\\?[-_]', '[-_ ]', re.escape(word))
    return bool(re.search(rf'(?<![\w/]){pattern}(?![\w/])', text, re.I))


def _early_changes(
    contract: Contract,
    before: Version | None,
    version: Version,
    found_changes: Sequence[ContractChange],
) -> Sequence[ContractChange]:
    """Return the changes that earlier microversions already accept."""
    if before is None or contract.accepted is contract:
        return ()
    later = changes.compare(contract.accepted, before, version)
    return [change for change in found_changes if change not in later]


def _format_changes(
    found_changes: Sequence[ContractChange], early: Sequence[ContractChange]
) -> Iterator[str]:
    for change, operations in group_changes(found_changes):
        names = ', '.join(f'``{name}``' for name in operations)
        kind = ' (breaking)' if change.breaking else ''
        if change in early:
            kind += ' (accepted at earlier versions, too)'
        if not change.location:
            yield f'{names} {change.description}{kind}'
            continue
        part = (
            'response' if change.location.startswith('response') else 'request'
        )
        subject = (
            change.location
            if re.fullmatch(r'response \d+|body|query', change.location)
            else f'``{change.subject}`` of the {part}'
        )
        yield f'{subject} {change.description}{kind}: {names}'
