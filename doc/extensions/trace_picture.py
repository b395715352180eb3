# SPDX-License-Identifier: Apache-2.0
"""Sphinx directive that draws a recorded trace.

``.. trace-picture:: FILE`` draws the spans of a JSON file, which
``tools/trace`` records, as SVG in HTML pages, and lists them in a table. The
table is the alternative in text, and has the attributes.
"""

from __future__ import annotations

import html
import json
import pathlib
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

#: A span: ``name``, ``process``, ``start`` and ``end`` in microseconds since
#: the beginning of the trace, and ``attributes``.
Span = Mapping[str, Any]

#: Pixels of the picture, of a row, of its bar, and of the margins beside bars.
_WIDTH, _ROW, _BAR, _MARGIN = 640, 40, 14, 4

#: Process -> colour of its bars, with sufficient contrast in both themes.
_COLOURS = {'API': '#0b7fd4', 'engine': '#d2691e'}


def picture(spans: Sequence[Span]) -> Iterator[str]:
    """Yield the lines of an SVG picture with one row per span."""
    total = max(span['end'] for span in spans)
    scale = (_WIDTH - 2 * _MARGIN) / total
    height = len(spans) * _ROW
    title = f'A trace of {len(spans)} spans in {_milliseconds(total)}'
    yield (
        f'<svg class="trace" role="img" viewBox="0 0 {_WIDTH} {height}"'
        f' xmlns="http://www.w3.org/2000/svg"><title>{title}; the table lists'
        ' them</title>'
    )
    for row, span in enumerate(spans):
        left = _MARGIN + span['start'] * scale
        width = max((span['end'] - span['start']) * scale, 1)
        top = row * _ROW
        # The text of a span that begins late ends where its bar ends.
        is_late = left > _WIDTH / 2
        x, anchor = (left + width, 'end') if is_late else (left, 'start')
        text = (
            f'{span["process"]}: {span["name"]},'
            f' {_milliseconds(span["end"] - span["start"])}'
        )
        yield (
            f'<text x="{x:.1f}" y="{top + 16}" text-anchor="{anchor}"'
            f' fill="currentColor" font-size="13">{html.escape(text)}</text>'
        )
        yield (
            f'<rect x="{left:.1f}" y="{top + 21}" width="{width:.1f}"'
            f' height="{_BAR}" rx="2" fill="{_COLOURS[span["process"]]}"/>'
        )
    yield '</svg>'


def table(spans: Sequence[Span]) -> Iterator[str]:
    """Yield the lines of a table of the spans, as reStructuredText."""
    yield '.. list-table::'
    yield '   :header-rows: 1'
    yield '   :widths: 12 33 15 40'
    yield ''
    rows = [
        ('Process', 'Span', 'Time (ms)', 'Attributes'),
        *(
            (
                span['process'],
                f'``{span["name"]}``',
                f'{span["start"] / 1000:.1f} to {span["end"] / 1000:.1f}',
                '\n'.join(
                    f'| ``{name}``: {_value(value)}'
                    for name, value in sorted(span['attributes'].items())
                ),
            )
            for span in spans
        ),
    ]
    for row in rows:
        for number, cell in enumerate(row):
            yield textwrap.indent(
                ('* - ' if number == 0 else '  - ')
                + textwrap.indent(cell, '    ').lstrip(),
                '   ',
            )


def _milliseconds(microseconds: int) -> str:
    return f'{microseconds / 1000:.1f} ms'


def _value(value: Any) -> str:
    if isinstance(value, list):
        return ', '.join(map(str, value)) or 'none'
    return str(value)


class TracePicture(SphinxDirective):
    """The directive ``trace-picture``."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the picture and the table."""
        path = pathlib.Path(self.env.srcdir) / self.arguments[0]
        self.env.note_dependency(str(path))
        spans = json.loads(path.read_text())
        svg = '\n'.join(picture(spans))
        return [
            nodes.raw(svg, svg, format='html'),
            *self.parse_text_to_nodes('\n'.join(table(spans))),
        ]


def setup(app: Sphinx) -> dict[str, object]:
    """Register the directive."""
    app.add_directive('trace-picture', TracePicture)
    return {'parallel_read_safe': True}
