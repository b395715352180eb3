# SPDX-License-Identifier: Apache-2.0
"""Sphinx directives that draw SVG diagrams of this repository.

``.. layers::`` draws the layers that ``make lint`` enforces, from
``pyproject.toml``. ``.. tiers:: TITLE`` draws its content in the same way, a
tier of machines per line::

    TEXT | TEXT ...

``.. request-path::`` draws its content, a step per line::

    LANE | MODULE | TEXT

``.. action-states::`` draws statuses of actions in a grid, and the changes
between them::

    COLUMN ROW | STATUS | TEXT
    STATUS -> STATUS

``.. timeline::`` draws the first line of its content as times, and each other
line as a row of values, one for each time::

    | TIME | TIME ...
    NAME | VALUE | VALUE ...

The build fails if a module or a status does not exist.
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

from vobjects.clustering import consts

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
        '<div class="diagram">'
        f'<svg viewBox="0 0 {_WIDTH} {height:g}" role="img" width="100%"'
        f' style="max-width:{_WIDTH}px"'
        ' font-family="var(--font-stack, sans-serif)">'
        f'<title>{html.escape(title)}</title>'
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4"'
        ' markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0,0 L8,4 L0,8 z" fill="currentColor"/></marker></defs>'
        + ''.join(parts)
        + '</svg></div>'
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
        layers = _rows(contract['layers'])
        return [_stack(layers, 'Layers of packages', _CENTRED_CODE)]


class Tiers(SphinxDirective):
    """Tiers of machines, each a client of the one below it."""

    has_content = True
    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Return the diagram."""
        tiers = _rows(self.content)
        return [_stack(tiers, self.arguments[0], 'text-anchor="middle"')]


def _stack(rows: Sequence[Sequence[str]], title: str, style: str) -> nodes.raw:
    """Return boxes in rows, with an arrow from each row to the next."""
    parts, y, height = [], 8.0, 34.0
    for number, row in enumerate(rows):
        width = (_WIDTH - 16 - 12 * (len(row) - 1)) / len(row)
        if number:
            middle = _WIDTH / 2
            parts.append(_arrow([(middle, y - _GAP), (middle, y)]))
        for position, text in enumerate(row):
            x = 8 + position * (width + 12)
            parts.append(_box(x, y, width, height))
            parts.append(_text(x + width / 2, y + 22, text, style))
        y += height + _GAP
    return _image(y - _GAP + 8, title, parts)


_CENTRED_CODE = (
    'text-anchor="middle" font-family="var(--font-stack--monospace,'
    ' monospace)"'
)
_CENTRED_SMALL_CODE = f'{_CENTRED_CODE} style="font-size: 12px"'
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


def _rows(content: Sequence[str]) -> list[list[str]]:
    """Return the cells of each line."""
    return [
        [cell.strip() for cell in line.split('|')]
        for line in content
        if line.strip()
    ]


class ActionStates(SphinxDirective):
    """Statuses of actions in a grid, and the changes between them."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the diagram.

        :raises docutils.parsers.rst.DirectiveError: a status does not exist
        """
        width, height, gap_x, gap_y = 224.0, 48.0, 16.0, 40.0
        left, top = {}, {}
        parts, changes, bottom = [], [], 0.0
        for position, *status in _rows(self.content):
            if not status:
                changes.append(position.split(' -> '))
                continue
            name, text = status
            if name not in consts.ACTION_STATUSES:
                raise self.error(f'there is no status {name}')
            column, row = map(int, position.split())
            x = left[name] = 8 + column * (width + gap_x)
            y = top[name] = 8 + row * (height + gap_y)
            parts += [
                _box(x, y, width, height),
                _text(x + width / 2, y + 20, name, _CENTRED_SMALL_CODE),
                _text(x + width / 2, y + 38, text, 'text-anchor="middle"'),
            ]
            bottom = max(bottom, y + height)
        for number, (start, end) in enumerate(changes):
            # Opposite changes lie side by side.
            shift = 12.0 if [end, start] in changes else 0.0
            from_y, to_y = top[start], top[end]
            if to_y > from_y:
                from_y += height
            elif to_y < from_y:
                to_y, shift = to_y + height, -shift
            from_x, to_x = left[start] + width / 2, left[end] + width / 2
            if from_y == to_y:
                side = 1 if to_x > from_x else -1
                from_x += side * width / 2
                to_x -= side * width / 2
                from_y = to_y = from_y + height / 2
            # Lines to the same side of a box end at different places.
            elif from_x != to_x:
                side = 1 if to_x > from_x else -1
                from_x += side * (width / 2 - 24 - 12 * (number % 3))
                to_x -= side * (width / 2 - 24 - 12 * (number % 3))
            else:
                from_x, to_x = from_x + shift, to_x + shift
            parts.append(_arrow([(from_x, from_y), (to_x, to_y)]))
        return [_image(bottom + 8, 'Statuses of an action', parts)]


class Timeline(SphinxDirective):
    """Rows of values over time; equal neighbours are one box."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the diagram."""
        (_, *times), *rows = _rows(self.content)
        names = 150.0
        width = (_WIDTH - names - 8) / len(times)
        parts, deepest = [], 0
        for column, time in enumerate(times):
            lines = textwrap.wrap(time, int(width / 6.8))
            deepest = max(deepest, len(lines))
            parts += [
                _text(names + column * width, 20 + 17 * number, line)
                for number, line in enumerate(lines)
            ]
        y = 20.0 + 17 * deepest
        for name, *values in rows:
            parts.append(_text(8, y + 20, name))
            column = 0
            while column < len(values):
                value, count = values[column], 1
                while values[column + count : column + count + 1] == [value]:
                    count += 1
                x = names + column * width
                parts += [
                    _box(x, y, count * width - 8, 30),
                    _text(x + 10, y + 20, value),
                ]
                column += count
            y += 40
        return [_image(y, 'A mixed fleet over time', parts)]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directives."""
    app.add_directive('layers', Layers)
    app.add_directive('tiers', Tiers)
    app.add_directive('request-path', RequestPath)
    app.add_directive('action-states', ActionStates)
    app.add_directive('timeline', Timeline)
    return {'parallel_read_safe': True}
