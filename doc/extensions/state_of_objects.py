# SPDX-License-Identifier: Apache-2.0
"""Sphinx directive that shows the state of services' versioned objects.

``.. state-of-versioned-objects::`` renders two files next to the document:
``state_of_versioned_objects.yaml``, which ``tools/state-of-versioned-objects``
writes, and ``versioned_object_reviews.yaml``, the findings with the
result of a review of the code.
"""

from __future__ import annotations

import collections
import pathlib
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

RESULTS = 'state_of_versioned_objects.yaml'
REVIEWS = 'versioned_object_reviews.yaml'

#: Verdict of a review -> title of its section.
VERDICTS: Mapping[str, str] = {
    'defect': 'Defects',
    'latent': 'Latent defects',
    'none': 'No defects',
}

Record = Mapping[str, Any]


def page(
    results: Mapping[str, Record], reviews: Sequence[Record]
) -> Iterator[str]:
    """Yield the lines of the page.

    :raises ValueError: a review matches no finding
    """
    yield from _tables(results, reviews)
    for service, result in sorted(results.items()):
        own = [item for item in reviews if item['service'] == service]
        yield from _service(service, result, own)


def _tables(
    results: Mapping[str, Record], reviews: Sequence[Record]
) -> Iterator[str]:
    yield from ('.. list-table:: Comparisons', '   :header-rows: 1', '')
    yield from _row('Service', 'Releases', 'Types', 'Transfers', 'Cases')
    for service, result in sorted(results.items()):
        releases = result['releases']
        yield from _row(
            _title(service),
            ', '.join(item['release'] for item in releases),
            releases[-1]['types'],
            sum(pair['transfers'] for pair in result['pairs']),
            result['invariant_cases'],
        )
    yield from ('', '.. list-table:: Findings', '   :header-rows: 1', '')
    yield from _row(
        'Service',
        'Errors',
        'Warnings',
        'Notes',
        'Defects',
        'Latent',
        'Not confirmed',
    )
    for service, result in sorted(results.items()):
        own = [item for item in reviews if item['service'] == service]
        verdicts = collections.Counter(item['verdict'] for item in own)
        severities = collections.Counter(
            item['severity'] for item in result['findings']
        )
        yield from _row(
            _title(service),
            severities['error'],
            severities['warning'],
            severities['note'],
            verdicts['defect'],
            verdicts['latent'],
            len(_subjects(_unreviewed(result, own))),
        )
    yield ''


def _title(service: str) -> str:
    return service.replace('_', '-').capitalize()


def _row(*cells: object) -> Iterator[str]:
    for index, cell in enumerate(cells):
        yield f'   {" " if index else "*"} - {cell}'


def _service(
    service: str, result: Record, reviews: Sequence[Record]
) -> Iterator[str]:
    title = _title(service)
    yield from (title, '-' * len(title), '')
    versions = sorted(
        {item['oslo.versionedobjects'] for item in result['releases']}
    )
    types = ', '.join(
        f'{item["release"]} ({item["types"]} types)'
        for item in result['releases']
    )
    yield (
        f'``{result["distribution"]}`` {types}; measured on'
        f' {result["measured"]} with Python {result["python"]} and'
        f' oslo.versionedobjects {", ".join(versions)}.'
    )
    yield ''
    for verdict, heading in VERDICTS.items():
        chosen = [item for item in reviews if item['verdict'] == verdict]
        if chosen:
            yield from (heading, '~' * len(heading), '')
        for review in chosen:
            yield from _review(result, review)
    open_findings = _unreviewed(result, reviews)
    if open_findings:
        yield from ('Not confirmed', '~' * 13, '')
    for subject, findings in _subjects(open_findings).items():
        yield f'* ``{subject}``: {_shown_by(findings)}.'
        yield f'  ``{_inline(findings[0]["detail"])}``'
    yield ''


def _review(result: Record, review: Record) -> Iterator[str]:
    findings = [item for item in result['findings'] if _matches(review, item)]
    if not findings and review['subjects']:
        raise ValueError(f'{REVIEWS}: no finding for {review["subjects"]}')
    subjects = ', '.join(f'``{name}``' for name in review['subjects'])
    if subjects:
        yield f'{subjects} ({_shown_by(findings)})'
    else:
        yield review['title']
    for line in textwrap.wrap(review['summary'], 75):
        yield f'    {line}'
    yield from ('', '    .. code-block:: text', '')
    for quote in review['evidence']:
        release = quote.get('release', review['release'])
        if 'line' in quote:
            text = f'{quote["file"]}:{quote["line"]}: {quote["text"]}'
        else:
            text = f'{quote["file"]}: no line has {quote["without"]!r}'
        yield f'        {release} {text}'
    yield from ('', '    .. code-block:: console', '')
    for line in (review.get('reproduce') or _command(result, findings)).split(
        '\n'
    ):
        yield f'        {line}'
    yield ''


def _command(result: Record, findings: Sequence[Record]) -> str:
    """Return the command that shows a finding."""
    service = result['import'].partition('.')[0]
    finding = min(findings, key=lambda item: _ORDER.index(item['check']))
    old, new = (f'{service}-{finding[key]}' for key in ('old', 'new'))
    if finding['check'] in ('matrix', 'unconverted'):
        option = ' --no-convert' * (finding['check'] == 'unconverted')
        return (
            f'$ vobjects transfers{option} {old} {new}'
            f' --import {result["import"]}'
        )
    if finding['check'] == 'lock':
        return (
            f'$ {old}/bin/vobjects lock init --import {result["import"]}\n'
            f'$ {old}/bin/vobjects lock release {finding["old"]}\n'
            f'$ {new}/bin/vobjects lock check'
        )
    return (
        f'$ {old}/bin/vobjects lock init --import {result["import"]}\n'
        f'$ {old}/bin/vobjects lock release {finding["old"]}\n'
        f'$ {new}/bin/pytest test_objects.py'
    )


#: The preferred check for the command that shows a finding.
_ORDER = ('matrix', 'unconverted', 'lock', 'invariants')


def _unreviewed(result: Record, reviews: Sequence[Record]) -> list[Record]:
    """Return the findings, except notes, without a review."""
    return [
        item
        for item in result['findings']
        if item['severity'] != 'note'
        and not any(_matches(review, item) for review in reviews)
    ]


def _matches(review: Record, finding: Record) -> bool:
    """Return whether a review is about a finding.

    Its subjects are ``Type`` or ``Type.field``; it may limit the checks.
    """
    if finding['check'] not in review.get('checks', _ORDER):
        return False
    return finding['type'] in review['subjects'] or (
        _subject(finding) in review['subjects']
    )


def _subject(finding: Record) -> str:
    return '.'.join(filter(None, (finding['type'], finding['field'])))


def _subjects(findings: Sequence[Record]) -> dict[str, list[Record]]:
    """Return the findings by type and field."""
    subjects: dict[str, list[Record]] = {}
    for finding in findings:
        subjects.setdefault(_subject(finding), []).append(finding)
    return dict(sorted(subjects.items()))


def _shown_by(findings: Sequence[Record]) -> str:
    """Return the checks and the releases of findings as text."""
    return '; '.join(
        dict.fromkeys(
            f'{item["check"]} {item["code"]}, {item["old"]} to {item["new"]}'
            for item in findings
        )
    )


def _inline(text: str, length: int = 300) -> str:
    line = ' '.join(text.replace('`', "'").split())
    return line if len(line) <= length else f'{line[:length]}...'


class StateOfVersionedObjects(SphinxDirective):
    """A table of the services, and a section for each of them."""

    def run(self) -> list[nodes.Node]:
        """Return the table and the sections."""
        directory = pathlib.Path(self.env.srcdir)
        documents = []
        for name in (RESULTS, REVIEWS):
            path = directory / name
            self.env.note_dependency(str(path))
            documents.append(yaml.safe_load(path.read_text()))
        return self.parse_text_to_nodes(
            '\n'.join(page(*documents)), allow_section_headings=True
        )


def setup(app: Sphinx) -> dict[str, object]:
    """Register the directive."""
    app.add_directive('state-of-versioned-objects', StateOfVersionedObjects)
    return {'parallel_read_safe': True}
