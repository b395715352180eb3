# SPDX-License-Identifier: Apache-2.0
"""Upgrade Magnum, with the library or without it, and print what happened."""

from __future__ import annotations

import argparse
import dataclasses
import pathlib
import sys
import tempfile

from tests.ports.magnum import cloud as clouds
from tests.ports.magnum import deployment, upgrade


def main() -> None:
    """Run the upgrade."""
    parser = argparse.ArgumentParser(prog='tests.ports.magnum')
    parser.add_argument(
        '--original', action='store_true', help='do not edit Magnum'
    )
    parser.add_argument('--requests', type=int, default=5000)
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix='magnum-') as folder,
        clouds.serving() as cloud,
        deployment.deployed(
            pathlib.Path(folder), cloud, edited=not options.original
        ) as deployed,
    ):
        result = upgrade.run(deployed, cloud, options.requests)
    for name, value in dataclasses.asdict(result).items():
        sys.stdout.write(f'{name}: {value}\n')


if __name__ == '__main__':
    main()
