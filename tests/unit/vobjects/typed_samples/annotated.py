# SPDX-License-Identifier: Apache-2.0
"""Type checkers report exactly the lines that end with the word error."""

from __future__ import annotations

import datetime
import enum
from typing import Annotated, Any, Literal, assert_type

import vobjects
from vobjects import UNSET, added, changed, fields, removed, renamed

Name = Annotated[str, fields.NameField()]


class Level(enum.Enum):
    """An enum class."""

    FULL = 'full'
    CHANGES = 'changes'


class ProjectRequest(vobjects.Request):
    """The base of some requests."""

    project: str
    limit: int = 10


@vobjects.register
class BackupRequest(ProjectRequest):
    """A request with every form of a field."""

    VERSION = '1.2'
    VERSION_MAP = {'1.4': '1.2'}

    volume: Name
    level: Level = Level.FULL
    mode: Literal['full', 'changes'] = 'full'
    at: datetime.datetime | None = UNSET
    force: bool = added('1.1', default=False)
    note: str | None = added('1.1')
    colour: str = renamed('1.2', 'color')
    size: int | None = renamed('1.2', 'bytes', added('1.1'), default=None)
    count: int = changed('1.1', str, up=int, down=str)
    old: str = removed('1.1', default='')
    labels: dict[str, Any] = {}
    disks: list[Disk] | None = UNSET


@vobjects.register
class Disk(vobjects.Object):
    """An object that is inside another one."""

    gigabytes: int


request = BackupRequest(project='p', volume='v', colour='red', count=1)
assert_type(request.project, str)
assert_type(request.limit, int)
assert_type(request.volume, str)
assert_type(request.level, Level)
assert_type(request.mode, Literal['full', 'changes'])
assert_type(request.at, datetime.datetime | None)
assert_type(request.force, bool)
assert_type(request.note, str | None)
assert_type(request.size, int | None)
assert_type(request.count, int)
assert_type(request.disks, list[Disk] | None)
assert_type(request.obj_clone().volume, str)
assert_type(BackupRequest.VERSION_MAP.get('1.4'), str | None)
request.note = None
request.disks = [Disk(gigabytes=1)]
request.force = 'yes'  # error
request.volume = None  # error
request.level = 'full'  # error
request.vloume = 'v'  # error
repr(request.vloume)  # error
BackupRequest(project='p', volume='v', colour='red')  # error
BackupRequest(project='p', volume='v', count=1)  # error
BackupRequest(volume='v', colour='red', count=1)  # error
BackupRequest(project='p', volume=1, colour='', count=1)  # error
BackupRequest(project='', volume='', colour='', count=1, forse=True)  # error
Disk(gigabytes='1')  # error


@vobjects.register
class WrongDefaults(vobjects.Object):
    """Each default has another type."""

    VERSION = '1.1'

    size: int = 'x'  # error
    force: bool = added('1.1', default='no')  # error
