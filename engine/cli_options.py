# SPDX-License-Identifier: Apache-2.0
"""Argument helpers shared by the engine's commands."""

from __future__ import annotations

import argparse


def add_config_file(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--config-file`` to a command."""
    parser.add_argument(
        '--config-file',
        metavar='FILE',
        action='append',
        help='settings; may be repeated, later ones win (default:'
        ' vobjects.conf in ~/.vobjects, ~, /etc/vobjects or /etc)',
    )


def sentence(summary: str) -> str:
    """Turn the summary of a command into a sentence."""
    return f'{summary[0].upper()}{summary[1:]}.'
