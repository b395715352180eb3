# SPDX-License-Identifier: Apache-2.0
"""The documents state releases and sizes of the ports as they are.

``make test-ports`` prints what the edits remove and insert, which needs the
services.
"""

from __future__ import annotations

import importlib
import pathlib
import re

import pytest

from ports import __main__ as ports
from ports.editing import Module, NewModule
from ports.port import Port

ROOT = pathlib.Path(__file__).parents[2]


def port_of(name: str) -> Port:
    port: Port = importlib.import_module(f'ports.{name}').PORT
    return port


def modules_of(port: Port) -> list[pathlib.Path]:
    """Return the files of a port that become modules of the service."""
    paths = [
        edit.replacement if isinstance(edit, Module) else edit.source
        for edit in port.edits
        if isinstance(edit, Module | NewModule)
    ]
    return [path for path in paths if path]


def row_of(port: Port, file: str) -> str:
    """Return the row about the size of a port in a table of a document."""
    pattern = rf'\W*{port.name.title()}\b.*\b{re.escape(port.release)}\b.*'
    (row,) = (
        line
        for line in (ROOT / file).read_text().splitlines()
        if re.fullmatch(pattern, line) and re.search(r'\d of \d', line)
    )
    return row


@pytest.mark.parametrize('name', ports.NAMES)
def test_documents_state_the_lines_of_the_modules_of_a_port(name: str) -> None:
    port = port_of(name)
    modules = modules_of(port)
    lines = sum(len(path.read_text().splitlines()) for path in modules)

    assert f'| {len(modules)} of {lines} |' in row_of(port, 'ports/README.md')
    assert f'ours have {lines} ' in row_of(port, 'doc/source/port-service.rst')
