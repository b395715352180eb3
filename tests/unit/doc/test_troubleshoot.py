# SPDX-License-Identifier: Apache-2.0
"""The messages in the guide to symptoms are those of the code."""

from __future__ import annotations

import ast
import functools
import pathlib
import re

import pytest

from tests.unit.doc import extensions

PAGE = extensions.DOC / 'source/troubleshoot.rst'
ROOT = extensions.DOC.parent

#: Text in the page that is marked as literal.
_LITERAL = re.compile(r'``([^`]+)``')

#: A literal with so many words is a message, if it is not a command.
_WORDS = 4
_COMMANDS = ('openstack ', 'vobjects ')

#: Punctuation between two variable parts identifies no message.
_WORD = re.compile(r'[A-Za-z]{3}')


@functools.cache
def texts() -> str:
    """Return all texts of the code, one on each line.

    A replacement field of an f-string, and a conversion such as ``%s``, ends
    a line.
    """
    lines: list[str] = []
    for package in (
        'vobjects',
        'api',
        'engine',
        'distributions',
        'transports',
    ):
        for path in (ROOT / package).rglob('*.py'):
            lines += _texts_of(path)
    return '\n'.join(lines)


def _texts_of(path: pathlib.Path) -> list[str]:
    return [
        part
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for part in re.split(r'%[-.\d]*[sdfg]|\{\w*\}', node.value)
    ]


def messages() -> list[str]:
    """Return the quoted messages; '...' stands for a variable part."""
    page = ' '.join(PAGE.read_text().split())
    return sorted(
        {
            literal
            for literal in _LITERAL.findall(page)
            if len(literal.split()) >= _WORDS
            and not literal.startswith(_COMMANDS)
        }
    )


@pytest.mark.parametrize('message', messages())
def test_message_is_in_the_code(message: str) -> None:
    for fragment in re.split(r'\.\.\.', message):
        if _WORD.search(fragment):
            assert fragment.strip() in texts()


def test_page_quotes_messages() -> None:
    assert len(messages()) > 30
