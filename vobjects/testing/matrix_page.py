# SPDX-License-Identifier: Apache-2.0
"""Render a matrix as a self-contained HTML page."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence

from vobjects.testing.matrix import Cell
from vobjects.versions import Version

_STYLE = """
body { font: 15px/1.4 system-ui, sans-serif; margin: 2em; color: #222 }
table { border-collapse: collapse }
th, td { border: 1px solid #ccc; padding: .4em .8em; text-align: left;
         vertical-align: top }
th { background: #f4f4f4 }
td.served { background: #d9f2dd }
td.refused { background: #eee; color: #666 }
td.broken { background: #f9d0d0 }
ul { margin: .2em 0 0; padding-left: 1.2em; font-size: 85% }
"""

_MEANING = {
    'served': 'every request arrives, every answer is read',
    'refused': 'the API does not offer this microversion, and says why',
    'broken': 'it is offered, and something does not arrive',
}


def render(title: str, cells: Sequence[Cell]) -> str:
    """Return a page with a row per microversion and a column per release.

    :param title: title and heading of the page
    :param cells: the cells of the matrix
    """
    return '\n'.join(
        [
            '<!doctype html>',
            '<html lang="en"><head><meta charset="utf-8">',
            f'<title>{html.escape(title)}</title>',
            f'<style>{_STYLE}</style></head><body>',
            f'<h1>{html.escape(title)}</h1>',
            '<p>The API of this build, beside an engine of each release.</p>',
            *_table(cells),
            '<h2>Legend</h2><table>',
            *(
                f'<tr><td class="{name}">{name}</td><td>{meaning}</td></tr>'
                for name, meaning in _MEANING.items()
            ),
            '</table></body></html>',
            '',
        ]
    )


def _table(cells: Sequence[Cell]) -> Iterator[str]:
    by_place: Mapping[tuple[str, Version], Cell] = {
        (cell.release, cell.microversion): cell for cell in cells
    }
    releases = list(dict.fromkeys(cell.release for cell in cells))
    yield '<table><tr><th>microversion</th>'
    yield from (f'<th>{html.escape(name)}</th>' for name in releases)
    yield '</tr>'
    for microversion in sorted({cell.microversion for cell in cells}):
        yield f'<tr><th>{microversion}</th>'
        for release in releases:
            yield _cell(by_place[release, microversion])
        yield '</tr>'
    yield '</table>'


def _cell(cell: Cell) -> str:
    said: str = cell.outcome
    if cell.outcome == 'served':
        said += f': {cell.requests} requests, {cell.answers} answers'
    notes = [*cell.notes]
    if cell.losses:
        notes.append(f'answers leave out {", ".join(cell.losses)}')
    items = ''.join(f'<li>{html.escape(note)}</li>' for note in notes)
    inner = f'<ul>{items}</ul>' if items else ''
    return f'<td class="{cell.outcome}">{said}{inner}</td>'
