# SPDX-License-Identifier: Apache-2.0
"""What the commands of the engine's side have in common."""

from __future__ import annotations

import argparse


def add_config_file(parser: argparse.ArgumentParser) -> None:
    """Give a command the option that names its settings."""
    parser.add_argument(
        '--config-file',
        metavar='FILE',
        action='append',
        help='settings; may be repeated, later ones win (default:'
        ' vobjects.conf in ~/.vobjects, ~, /etc/vobjects or /etc)',
    )


def sentence(summary: str) -> str:
    """Return one line of a list of commands as a sentence."""
    return f'{summary[0].upper()}{summary[1:]}.'
