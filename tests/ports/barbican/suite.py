# SPDX-License-Identifier: Apache-2.0
"""Run Barbican's functional tests, and return the outcome of each."""

from __future__ import annotations

import dataclasses
import pathlib
import shutil
import subprocess
from collections.abc import Sequence
from xml.etree import ElementTree

from ports import __main__ as ports
from ports.barbican import PORT
from tests.ports.barbican import service

#: The requirements of the functional tests.
_PORT = dataclasses.replace(
    PORT, requirements=(*PORT.requirements, 'tempest', 'python-keystoneclient')
)


def run(
    folder: pathlib.Path, *, edited: bool, options: Sequence[str] = ()
) -> dict[str, str]:
    """Run the tests against a new API.

    :param options: further arguments of pytest
    :returns: name of each test -> passed, skipped or failed
    """
    root = folder / 'root'
    python = ports.prepare(_PORT, ports.DEFAULT_CACHE, root, edit=edited)
    source = ports.source(_PORT, ports.DEFAULT_CACHE)
    shutil.copytree(source / 'functionaltests', root / 'functionaltests')
    home = folder / 'home'
    home.mkdir()
    paste = source / 'etc' / 'barbican' / 'barbican-api-paste.ini'
    with service.running(home, python, root, paste):
        shutil.copy(
            home / 'functional.conf',
            root / 'etc' / 'barbican' / 'barbican-functional.conf',
        )
        report = folder / 'report.xml'
        subprocess.run(
            [
                python,
                *ports.PYTEST,
                f'--rootdir={root}',
                f'--junit-xml={report}',
                str(root / 'functionaltests' / 'api'),
                *options,
            ],
            cwd=root,
            env={
                'PATH': f'{pathlib.Path(python).parent}:/usr/bin:/bin',
                'PYTHONPATH': service.search_path(root),
                'HOME': str(home),
            },
            check=False,
        )
    return dict(map(_outcome, ElementTree.parse(report).iter('testcase')))


def _outcome(case: ElementTree.Element) -> tuple[str, str]:
    name = f'{case.get("classname")}.{case.get("name")}'
    kinds = {child.tag for child in case}
    if kinds & {'failure', 'error'}:
        return name, 'failed'
    return name, 'skipped' if 'skipped' in kinds else 'passed'
