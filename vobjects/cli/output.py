# SPDX-License-Identifier: Apache-2.0
"""Print the result of a command as a table, as JSON or as YAML.

A command calls :func:`add_option` for its parser, and :func:`show` with its
result.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from vobjects import log_lines
from vobjects.cli import terminal
from vobjects.cli.parser import one_of

TABLE, JSON, YAML = FORMATS = ('table', 'json', 'yaml')


def add_option(
    parser: argparse.ArgumentParser,
    *,
    formats: Sequence[str] = FORMATS,
    default: str = TABLE,
) -> None:
    """Add ``-o/--output FORMAT``."""
    *others, last = formats
    parser.add_argument(
        '-o',
        '--output',
        metavar='FORMAT',
        type=one_of(formats, 'format'),
        choices=formats,
        default=default,
        help=f'print {", ".join(others)} or {last} (default: {default})',
    )


def show(options: argparse.Namespace, data: Any, lines: Iterable[str]) -> None:
    """Print a result to standard output.

    :param options: the parsed arguments, with the option of
        :func:`add_option`
    :param data: the result as JSON data
    :param lines: the result as text, for the format ``table``
    """
    if options.output == TABLE:
        for line in lines:
            print(line)
    else:
        print(dump(data, options.output), end='')


def dump(data: Any, output: str) -> str:
    """Return JSON data as a document: JSON or YAML.

    :returns: text that ends with a line end
    """
    if output == JSON:
        written = json.dumps(data, indent=2, ensure_ascii=False)
        return log_lines.json_escaped(written) + '\n'
    # Imported here, because few users want YAML.
    import yaml

    # Through JSON, because YAML would mark tuples and subclasses of dict.
    text: str = yaml.safe_dump(
        json.loads(json.dumps(data)), sort_keys=False, allow_unicode=True
    )
    return text


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    right: Iterable[str] = (),
    styles: Mapping[str, str] | None = None,
) -> Iterator[str]:
    """Yield the lines of a table with aligned columns.

    Control characters are escaped: cells may have text of other processes.

    :param columns: the titles
    :param rows: the cells of each row
    :param right: titles of the columns with numbers, aligned at the right
    :param styles: text of a cell, or its first word -> style, see
        :meth:`vobjects.cli.terminal.Terminal.styled`
    """
    screen = terminal.Terminal(sys.stdout)
    texts = [[log_lines.escaped(str(cell)) for cell in row] for row in rows]
    widths = [
        max(map(len, column)) for column in zip(columns, *texts, strict=True)
    ]
    is_right = [title in set(right) for title in columns]

    def line(cells: Sequence[str], style_of: Mapping[str, str]) -> str:
        parts = []
        for cell, width, to_right in zip(cells, widths, is_right, strict=True):
            word = cell.partition(' ')[0].rstrip(',:')
            style = style_of.get(cell) or style_of.get(word)
            text = screen.styled(style, cell) if style else cell
            space = ' ' * (width - len(cell))
            parts.append(space + text if to_right else text + space)
        return '  '.join(parts).rstrip()

    yield line(columns, dict.fromkeys(columns, 'bold'))
    for row in texts:
        yield line(row, styles or {})
