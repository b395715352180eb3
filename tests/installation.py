# SPDX-License-Identifier: Apache-2.0
"""Install packages in the virtual environments of tests."""

from __future__ import annotations

import pathlib
import sys

_PROGRAM = pathlib.Path(__file__).parents[1] / 'tools' / 'install-packages'


def command(python: pathlib.Path) -> tuple[str, ...]:
    """Return a command that installs the packages that follow.

    :param python: of the virtual environment
    """
    return (str(_PROGRAM), sys.executable, str(python))
