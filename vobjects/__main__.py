# SPDX-License-Identifier: Apache-2.0
"""Run the ``vobjects`` command as ``python -m vobjects``."""

from __future__ import annotations

import sys

from vobjects.cli import main

if __name__ == '__main__':
    sys.exit(main.main())
