# SPDX-License-Identifier: Apache-2.0
"""Modules that run in the virtual environment of the cloud."""

from __future__ import annotations

import pathlib
import shutil

MECHANISM_DRIVER = 'bind_all_ports'

#: Modules that the services import.
MODULES = ('wsgi_shim', 'bind_all_ports')

_METADATA = 'Metadata-Version: 2.1\nName: vobjects-plugins\nVersion: 1.0\n'

_ENTRY_POINTS = f"""\
[neutron.ml2.mechanism_drivers]
{MECHANISM_DRIVER} = bind_all_ports:BindAllPorts
"""


def install(directory: pathlib.Path) -> None:
    """Copy the modules to a directory, as an installed distribution."""
    information = directory / 'vobjects_plugins-1.0.dist-info'
    information.mkdir(parents=True, exist_ok=True)
    (information / 'METADATA').write_text(_METADATA)
    (information / 'entry_points.txt').write_text(_ENTRY_POINTS)
    for module in MODULES:
        source = pathlib.Path(__file__).with_name(f'{module}.py')
        shutil.copy(source, directory)
