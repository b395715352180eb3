# SPDX-License-Identifier: Apache-2.0
"""How to read the types of each project: the file ``projects.toml``."""

from __future__ import annotations

import pathlib
import tomllib
from typing import NamedTuple

_FILE = pathlib.Path(__file__).with_name('projects.toml')


class Project(NamedTuple):
    """How to read the types of a project; the file explains the fields."""

    imports: list[str]
    package: str
    keep: list[str]
    requirements: list[str]
    models: bool = False
    converts: bool = True
    source: str = '.'


PROJECTS = {
    name: Project(**item)
    for name, item in tomllib.loads(_FILE.read_text('utf-8')).items()
}
