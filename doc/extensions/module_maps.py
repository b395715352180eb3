# SPDX-License-Identifier: Apache-2.0
"""Sphinx extension that shows docstrings as readers of pages need them.

The docstring of a package lists its modules in columns, which is the best form
in the source, but too wide for a phone. Pages show a definition list with a
link to the section of each module. Signatures name the functions and classes
that are defaults instead of showing their ``repr``.
"""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterator

from sphinx.application import Sphinx
from sphinx.ext.autodoc import Options

REFERENCE = pathlib.Path(__file__).parents[1] / 'source' / 'reference'

#: The first line of a module in the list of a package.
ENTRY = re.compile(r' {4}(?P<name>\w+)(?:/|\.py)? {2,}(?P<text>\S.*)')

#: Lines of an entry with at most this indentation are code.
CODE_INDENT = 8

#: The distance between columns.
GAP = re.compile(r' {2,}')

#: The ``repr`` of a function or class: '<function f>', "<class 'dict'>". A
#: dataclass shows the factory of a default as '<factory>'.
DEFAULT = re.compile(r"<(?:function|class) '?(?:[\w<>]+\.)*([\w<>]+?)'?>")
UNNAMED = re.compile('<lambda>|<factory>')


def documented_modules() -> set[str]:
    """Return the names of the modules that have a section."""
    return {
        name
        for page in REFERENCE.glob('*.rst')
        for name in re.findall(r'automodule:: (\S+)', page.read_text())
    }


def definition_list(
    package: str, lines: list[str], documented: set[str]
) -> list[str] | None:
    """Return the definition list of a block.

    :param package: name of the package
    :param lines: lines of the block, indented
    :param documented: names of modules that can be linked to
    :returns: lines, or None if the block does not list modules
    """
    entries: list[tuple[str, list[str], list[str]]] = []
    for line in filter(None, lines):
        match = ENTRY.fullmatch(line)
        if match:
            entries.append((match['name'], [match['text']], []))
        elif not entries:
            return None
        else:
            _, text, code = entries[-1]
            indent = len(line) - len(line.lstrip())
            words = GAP.sub('  ', line.strip())
            if indent <= CODE_INDENT:
                code.append(words)
            elif code:
                code[-1] += f' {words}'
            else:
                text.append(words)
    result = []
    for name, text, code in entries:
        module = f'{package}.{name}'
        known = module in documented
        result += [
            f':mod:`{name} <{module}>`' if known else f'``{name}``',
            f'    {" ".join(text)}',
            '',
        ]
        if code:
            result += ['    .. code-block:: text', '        :class: interface']
            result += ['', *(f'        {line}' for line in code), '']
    return result


def convert(
    package: str, lines: list[str], documented: set[str]
) -> Iterator[str]:
    """Yield the lines of a docstring with lists instead of columns."""
    position = 0
    while position < len(lines):
        line = lines[position]
        position += 1
        if not line.endswith('::') or line.startswith('.. '):
            yield line
            continue
        end = position
        while end < len(lines) and (
            not lines[end] or lines[end].startswith(' ')
        ):
            end += 1
        found = definition_list(package, lines[position:end], documented)
        if found is None:
            yield line
            continue
        if line != '::':
            yield line[:-1]
        yield ''
        yield from found
        position = end


def process_docstring(
    app: Sphinx,
    kind: str,
    name: str,
    thing: object,
    options: Options,
    lines: list[str],
) -> None:
    """Convert the docstring of a package."""
    if hasattr(thing, '__path__'):
        lines[:] = list(convert(name, lines, documented_modules()))


def process_signature(
    app: Sphinx,
    kind: str,
    name: str,
    thing: object,
    options: Options,
    signature: str | None,
    returned: str | None,
) -> tuple[str | None, str | None]:
    """Name the defaults that are functions or classes."""
    if signature:
        signature = UNNAMED.sub('...', DEFAULT.sub(r'\1', signature))
    return signature, returned


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the handlers."""
    app.setup_extension('sphinx.ext.autodoc')
    app.connect('autodoc-process-docstring', process_docstring)
    app.connect('autodoc-process-signature', process_signature)
    return {'parallel_read_safe': True}
