# SPDX-License-Identifier: Apache-2.0
"""Transfers between two releases of a small service, in two processes."""

from __future__ import annotations

import pathlib
import sys
from typing import NamedTuple

import pytest

from vobjects_releases.transfers import Transfer, transfer_all

PLAIN = """
class Refused(Exception):
    pass


from oslo_versionedobjects import base, fields
"""

PLAIN_CLASS = """
@base.VersionedObjectRegistry.register
class NAME(base.VersionedObject):
    VERSION = '{version}'
    fields = {{
        'color': fields.EnumField(valid_values={colors}),
        {fields}
    }}

    def obj_make_compatible(self, primitive, target_version):
        {convert}
"""

#: Types of this library.
VERSIONED = """
from vobjects import Request, fields, register, removed, renamed
"""

VERSIONED_CLASS = """
@register
class NAME(Request):
    {declaration}
"""

GIFT = "'gift': fields.StringField(nullable=True),"


def plain(
    version: str = '1.0',
    colors: tuple[str, ...] = ('red',),
    fields: str = '',
    convert: str = 'pass',
) -> str:
    return PLAIN_CLASS.format(
        version=version, colors=colors, fields=fields, convert=convert
    )


def replacing(refused: str) -> str:
    """Return a class whose conversion replaces new values but for one."""
    return plain(
        '1.1',
        ('black', 'blue', 'green', 'red'),
        convert="c = primitive['color']; primitive['color'] = 'red'"
        f" if c != '{refused}' else '{refused}?'",
    )


def raising(error: str) -> str:
    """Return a class whose conversion raises an error for a new value."""
    return plain(
        '1.1',
        ('blue', 'red'),
        convert=f"if primitive['color'] == 'blue': raise {error}",
    )


class Row(NamedTuple):
    """A type of both releases, and the transfer from the new to the old one.

    :ivar detail: a part of the detail
    """

    old: str
    new: str
    outcome: str
    severity: str
    detail: str = ''
    sent: str = ''


ROWS = {
    'Forgotten': Row(
        plain(),
        plain('1.1', fields=GIFT),
        'mislabelled',
        'warning',
        'gift',
        'only if a process sets an optional field',
    ),
    # The new value sorts first, so that only the peer's values select it.
    'NewValue': Row(
        plain(colors=('red', 'yellow')),
        plain(colors=('blue', 'red', 'yellow')),
        'refused',
        'error',
        'blue',
        'only with values that the receiver does not know',
    ),
    **{
        f'Refused{value}': Row(
            plain(colors=('black', 'red')),
            replacing(value),
            'refused',
            'error',
            f'{value}?',
        )
        for value in ('blue', 'green', 'red')
    },
    'Withheld': Row(
        plain(), raising("Refused('blue is new')"), 'withheld', 'note'
    ),
    'WithheldByValueError': Row(
        plain(), raising("ValueError('blue is new')"), 'withheld', 'note'
    ),
    'Crashed': Row(plain(), raising("KeyError('blue')"), 'crashed', 'error'),
    'AlwaysRaised': Row(
        plain(),
        plain('1.1', convert="raise Refused('too old')"),
        'crashed',
        'error',
    ),
    'Lossy': Row(
        plain(),
        plain(
            '1.1',
            convert='from vobjects.exceptions import LossyDowngrade;'
            " raise LossyDowngrade('Order', 'color', 'red', '1.1', '1.0')",
        ),
        'withheld',
        'note',
    ),
    'Converted': Row(
        plain(),
        plain('1.1', fields=GIFT, convert="primitive.pop('gift', None)"),
        'lost',
        'note',
    ),
}

#: Type of this library -> its old and its new declaration.
DECLARATIONS = {
    'Renamed': (
        "fields = {'color': fields.EnumField(['red', 'blue'])}",
        "VERSION = '1.1'; VERSION_MAP = {'1.1': '1.1'}; fields ="
        " {'colour': renamed('1.1', 'color',"
        " fields.EnumField(['red', 'blue']))}",
    ),
    'GivenUp': (
        "fields = {'gift': fields.StringField(nullable=True)}",
        "VERSION = '1.1'; VERSION_MAP = {'1.1': '1.1'}; fields ="
        " {'gift': removed('1.1', fields.StringField(nullable=True),"
        " dropped='1.1')}",
    ),
}


@pytest.fixture(scope='module')
def releases(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[pathlib.Path, pathlib.Path]:
    """Create the environments of two releases of all types."""
    folder = tmp_path_factory.mktemp('releases')
    paths = folder / 'old', folder / 'new'
    for number, path in enumerate(paths):
        python = path / 'bin/python'
        python.parent.mkdir(parents=True)
        python.write_text(
            f'#!/bin/sh\nPYTHONPATH={path} exec {sys.executable} "$@"\n'
        )
        python.chmod(0o755)
        classes = [row[number].replace('NAME', n) for n, row in ROWS.items()]
        (path / 'shop.py').write_text('\n'.join([PLAIN, *classes]))
        classes = [
            VERSIONED_CLASS.format(declaration=declarations[number]).replace(
                'NAME', name
            )
            for name, declarations in DECLARATIONS.items()
        ]
        (path / 'versioned_shop.py').write_text(
            '\n'.join([VERSIONED, *classes])
        )
    return paths


Transfers = dict[tuple[str, str], Transfer]


def by_type(transfers: list[Transfer]) -> Transfers:
    return {(item.type_name, item.direction): item for item in transfers}


@pytest.fixture(scope='module')
def transfers(releases: tuple[pathlib.Path, pathlib.Path]) -> Transfers:
    return by_type(transfer_all(*releases, ['shop']))


@pytest.mark.parametrize('name', ROWS)
def test_transfer_to_the_older_release_has_an_outcome(
    transfers: Transfers, name: str
) -> None:
    row, transfer = ROWS[name], transfers[name, 'new to old']
    assert (transfer.outcome, transfer.severity) == (row.outcome, row.severity)
    assert row.detail in transfer.detail
    assert row.sent in ('', transfer.sent)


def test_transfer_without_conversion_sends_the_newest_version(
    releases: tuple[pathlib.Path, pathlib.Path],
) -> None:
    old, _ = releases
    unconverted = transfer_all(*releases, ['shop'], False)
    transfer = by_type(unconverted)['Converted', 'new to old']
    assert (transfer.outcome, transfer.severity) == ('refused', 'error')
    assert 'IncompatibleObjectVersion' in transfer.detail
    assert transfer.sent == 'by each process that sends the type'
    # Types of the same version are left out.
    newer = {name for name, row in ROWS.items() if "'1.1'" in row.new}
    assert {item.type_name for item in unconverted} == newer
    assert not transfer_all(old, old, ['shop'], False)


def test_transfer_of_declared_types_follows_their_history(
    releases: tuple[pathlib.Path, pathlib.Path],
) -> None:
    transfers = by_type(transfer_all(*releases, ['versioned_shop']))
    for direction in ('new to old', 'old to new'):
        assert transfers['Renamed', direction].outcome == 'fine'
    to_new = transfers['GivenUp', 'old to new']
    assert (to_new.outcome, to_new.severity) == ('refused', 'note')
    assert 'no longer supports this data' in to_new.reason
