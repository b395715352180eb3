# SPDX-License-Identifier: Apache-2.0
"""Render a matrix, or transfers, as a self-contained HTML page."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Mapping, Sequence

from vobjects.testing.cross_release import Transfer
from vobjects.testing.matrix import Cell, by_release

_STYLE = """
body { font: 15px/1.4 system-ui, sans-serif; margin: 2em; color: #222 }
table { border-collapse: collapse }
th, td { border: 1px solid #ccc; padding: .4em .8em; text-align: left;
         vertical-align: top }
th { background: #f4f4f4 }
td.served { background: #d9f2dd }
td.refused { background: #eee; color: #666 }
td.broken, td.error { background: #f9d0d0 }
td.warning { background: #fbeecb }
td.note { background: #eee }
ul { margin: .2em 0 0; padding-left: 1.2em; font-size: 85% }
"""

_MEANING = {
    'served': 'every request arrives, every response is read',
    'refused': 'the API does not offer the microversion, for this reason',
    'broken': 'the API offers the microversion, but some data is lost',
}


_SEVERITIES = {
    'error': 'a process fails, or data that both releases have is lost',
    'warning': 'the receiver ignores data',
    'note': 'the older release cannot have the data',
}


def render(title: str, cells: Sequence[Cell]) -> str:
    """Return a page with a row per microversion and a column per release.

    :param title: title and heading of the page
    :param cells: the cells of the matrix
    """
    summary = 'The API of this build with an engine of each release.'
    return _page(title, summary, _table(cells), _MEANING)


def render_transfers(title: str, transfers: Sequence[Transfer]) -> str:
    """Return a page with a row per transfer that is not fine.

    :param title: title and heading of the page
    :param transfers: all transfers between two releases
    """
    problems = [item for item in transfers if item.outcome != 'fine']
    summary = (
        f'{len(transfers)} transfers, {len(transfers) - len(problems)} without'
        ' problems.'
    )
    return _page(title, summary, _transfer_table(problems), _SEVERITIES)


def _page(
    title: str, summary: str, table: Iterable[str], legend: Mapping[str, str]
) -> str:
    return '\n'.join(
        [
            '<!doctype html>',
            '<html lang="en"><head><meta charset="utf-8">',
            f'<title>{html.escape(title)}</title>',
            f'<style>{_STYLE}</style></head><body>',
            f'<h1>{html.escape(title)}</h1>',
            f'<p>{summary}</p>',
            *table,
            '<h2>Legend</h2><table>',
            *(
                f'<tr><td class="{name}">{name}</td><td>{meaning}</td></tr>'
                for name, meaning in legend.items()
            ),
            '</table></body></html>',
            '',
        ]
    )


def _transfer_table(problems: Sequence[Transfer]) -> Iterator[str]:
    yield '<table><tr>'
    for heading in (
        *('severity', 'outcome', 'type', 'sender', 'receiver', 'direction'),
        *('fields or error', 'reason', 'sent'),
    ):
        yield f'<th>{heading}</th>'
    yield '</tr>'
    for item in problems:
        yield f'<tr><td class="{item.severity}">{item.severity}</td>'
        for value in (
            *(item.outcome, item.type_name, item.sender, item.receiver),
            *(item.direction, item.detail, item.reason, item.sent),
        ):
            yield f'<td>{html.escape(value)}</td>'
        yield '</tr>'
    yield '</table>'


def _table(cells: Sequence[Cell]) -> Iterator[str]:
    releases = by_release(cells)
    yield '<table><tr><th>microversion</th>'
    yield from (f'<th>{html.escape(name)}</th>' for name in releases)
    yield '</tr>'
    for microversion in sorted({cell.microversion for cell in cells}):
        yield f'<tr><th>{microversion}</th>'
        for cells_of_release in releases.values():
            yield _cell(cells_of_release[microversion])
        yield '</tr>'
    yield '</table>'


def _cell(cell: Cell) -> str:
    summary: str = cell.outcome
    if cell.outcome == 'served':
        summary += f': {cell.requests} requests, {cell.responses} responses'
    items = ''.join(f'<li>{html.escape(item)}</li>' for item in cell.details)
    details = f'<ul>{items}</ul>' if items else ''
    return f'<td class="{cell.outcome}">{summary}{details}</td>'
