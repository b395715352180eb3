# SPDX-License-Identifier: Apache-2.0
"""Generated functions, and their source in tracebacks."""

from __future__ import annotations

import traceback

import pytest

from vobjects import _codegen


def test_run_returns_the_functions_of_the_source() -> None:
    namespace = _codegen.run('def add(x): return x + y\n', {'y': 2})
    assert namespace['add'](1) == 3


def test_run_with_filename_shows_the_source_in_tracebacks() -> None:
    source = 'def divide(x): return x / zero\n'
    divide = _codegen.run(source, {'zero': 0}, '<test_codegen>')['divide']
    with pytest.raises(ZeroDivisionError) as caught:
        divide(1)
    text = ''.join(traceback.format_exception(caught.value))
    assert 'return x / zero' in text
