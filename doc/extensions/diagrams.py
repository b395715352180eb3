# SPDX-License-Identifier: Apache-2.0
"""Sphinx directives that draw SVG diagrams of this repository.

``.. layers::`` draws the layers that ``make lint`` enforces, from
``pyproject.toml``. ``.. request-path::`` draws its content, a step per line::

    LANE | MODULE | TEXT

The build fails if a module does not exist.
"""

from __future__ import annotations

import html
import importlib.util
import pathlib
import textwrap
import tomllib
from collections.abc import Sequence

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

ROOT = pathlib.Path(__file__).parents[2]

#: The contract of import-linter that has the layers.
CONTRACT = 'layers'

_WIDTH = 720
_GAP = 22
_BOX = (
    'rx="6" fill="var(--color-background-secondary, none)"'
    ' stroke="currentColor" stroke-opacity="0.45"'
)


def _text(x: float, y: float, text: str, style: str = '') -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="13" fill="currentColor"'
        f' {style}>{html.escape(text)}</text>'
    )


def _box(x: float, y: float, width: float, height: float) -> str:
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'
        f' {_BOX}/>'
    )


def _arrow(points: Sequence[tuple[float, float]]) -> str:
    path = ' '.join(f'{x:g},{y:g}' for x, y in points)
    return (
        f'<polyline points="{path}" fill="none" stroke="currentColor"'
        ' stroke-opacity="0.6" marker-end="url(#arrow)"/>'
    )


def _image(height: float, title: str, parts: Sequence[str]) -> nodes.raw:
    svg = (
        f'<svg viewBox="0 0 {_WIDTH} {height:g}" role="img" width="100%"'
        f' style="max-width:{_WIDTH}px"'
        ' font-family="var(--font-stack, sans-serif)">'
        f'<title>{html.escape(title)}</title>'
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4"'
        ' markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0,0 L8,4 L0,8 z" fill="currentColor"/></marker></defs>'
        + ''.join(parts)
        + '</svg>'
    )
    return nodes.raw('', svg, format='html')


class Layers(SphinxDirective):
    """The layers of import-linter, each importing those below it only."""

    def run(self) -> list[nodes.Node]:
        """Return the diagram."""
        file = ROOT / 'pyproject.toml'
        self.env.note_dependency(str(file))
        contracts = tomllib.loads(file.read_text())['tool']['importlinter'][
            'contracts'
        ]
        (contract,) = (c for c in contracts if c['type'] == CONTRACT)
        parts, y, height = [], 8.0, 34.0
        for number, layer in enumerate(contract['layers']):
            modules = [name.strip() for name in layer.split('|')]
            width = (_WIDTH - 16 - 12 * (len(modules) - 1)) / len(modules)
            if number:
                middle = _WIDTH / 2
                parts.append(_arrow([(middle, y - _GAP), (middle, y)]))
            for position, module in enumerate(modules):
                x = 8 + position * (width + 12)
                parts.append(_box(x, y, width, height))
                parts.append(
                    _text(x + width / 2, y + 22, module, _CENTRED_CODE)
                )
            y += height + _GAP
        return [_image(y - _GAP + 8, 'Layers of packages', parts)]


_CENTRED_CODE = (
    'text-anchor="middle" font-family="var(--font-stack--monospace,'
    ' monospace)"'
)
_CODE = 'font-family="var(--font-stack--monospace, monospace)"'
_BOLD = 'font-weight="600" text-anchor="middle"'


class RequestPath(SphinxDirective):
    """Steps in lanes, one lane for each process."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the diagram.

        :raises docutils.parsers.rst.DirectiveError: a module does not exist
        """
        steps = [
            tuple(part.strip() for part in line.split('|'))
            for line in self.content
            if line.strip()
        ]
        lanes = list(dict.fromkeys(step[0] for step in steps))
        width = (_WIDTH - 16 - 24 * (len(lanes) - 1)) / len(lanes)
        left = {
            lane: 8 + number * (width + 24)
            for number, lane in enumerate(lanes)
        }
        parts = [
            _text(left[lane] + width / 2, 20, lane, _BOLD) for lane in lanes
        ]
        y, before = 34.0, None
        for lane, module, text in steps:
            if module and importlib.util.find_spec(module) is None:
                raise self.error(f'there is no module {module}')
            lines = textwrap.wrap(text, int(width / 6.8))
            height = 14 + 17 * (len(lines) + bool(module))
            x = left[lane]
            if before is not None:
                start = left[before] + width / 2
                middle = y - _GAP / 2
                parts.append(
                    _arrow(
                        [
                            (start, y - _GAP),
                            (start, middle),
                            (x + width / 2, middle),
                            (x + width / 2, y),
                        ]
                    )
                )
            parts.append(_box(x, y, width, height))
            line_y = y + 19
            if module:
                parts.append(_text(x + 8, line_y, module, _CODE))
                line_y += 17
            for line in lines:
                parts.append(_text(x + 8, line_y, line))
                line_y += 17
            y, before = y + height + _GAP, lane
        return [_image(y - _GAP + 8, 'Path of a request', parts)]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directives."""
    app.add_directive('layers', Layers)
    app.add_directive('request-path', RequestPath)
    return {'parallel_read_safe': True}
