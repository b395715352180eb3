# SPDX-License-Identifier: Apache-2.0
"""A service needs few lines besides its types and handlers."""

from __future__ import annotations

import ast
import pathlib
import tokenize

import pytest

ROOT = pathlib.Path(__file__).parents[3]

#: A service has fewer lines than this besides types, handlers and imports.
LIMIT = 60

NOT_CODE = (
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE),
    *(tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER),
)
DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def span(node: ast.stmt) -> set[int]:
    """Return the numbers of the lines of a statement."""
    decorators = getattr(node, 'decorator_list', [])
    first = min([node.lineno, *(item.lineno for item in decorators)])
    return set(range(first, (node.end_lineno or first) + 1))


def code_lines(path: pathlib.Path, handlers: set[str]) -> int:
    """Return the number of lines besides handlers and imports.

    It counts neither blank lines nor comments nor docstrings.

    :param handlers: names of classes and functions at the top of the module
    """
    with tokenize.open(path) as file:
        source = file.read()
    tree = ast.parse(source)
    with path.open('rb') as raw:
        lines = {
            number
            for token in tokenize.tokenize(raw.readline)
            if token.type not in (*NOT_CODE, tokenize.ENCODING)
            for number in range(token.start[0], token.end[0] + 1)
        }
    for node in ast.walk(tree):
        if (
            isinstance(node, (ast.Module, *DEFINITIONS))
            and ast.get_docstring(node) is not None
        ):
            lines -= span(node.body[0])
        elif isinstance(node, ast.Import | ast.ImportFrom):
            lines -= span(node)
    for node in tree.body:
        if isinstance(node, DEFINITIONS) and node.name in handlers:
            lines -= span(node)
            handlers.remove(node.name)
    return len(lines)


@pytest.mark.parametrize(
    ('package', 'engine', 'handlers'),
    [
        ('doc/examples/keys', 'engine', {'Keys', 'app'}),
        (
            'examples/secret_store/secret_store',
            'engine',
            {'Secrets', 'metadata_of', 'shown'}
            | {'create', 'index', 'show', 'payload', 'delete'},
        ),
        (
            'examples/cluster_infra/cluster_infra',
            'conductor',
            {'Collection', 'ClusterTemplates', 'Clusters', 'V1', 'Root'},
        ),
    ],
)
def test_example_has_few_lines_besides_types_and_handlers(
    package: str, engine: str, handlers: set[str]
) -> None:
    lines, used = 0, set[str]()
    for name in ('service', 'errors', engine, 'api'):
        remaining = set(handlers)
        lines += code_lines(ROOT / package / f'{name}.py', remaining)
        used |= handlers - remaining
    assert used == handlers
    assert 0 < lines < LIMIT
