# SPDX-License-Identifier: Apache-2.0
"""Transfers between two releases of a small service, in two processes."""

from __future__ import annotations

import pathlib
import sys
import textwrap

import pytest

from vobjects.testing import cross_release

MODULE = """
    from oslo_versionedobjects import base, fields

    class Refused(Exception):
        pass

    @base.VersionedObjectRegistry.register
    class Order(base.VersionedObject):
        VERSION = '{version}'
        fields = {{
            'color': fields.EnumField(valid_values={colors}),
            {fields}
        }}

        def obj_make_compatible(self, primitive, target_version):
            {convert}
"""

#: A type of this library, with a first and a later declaration.
VERSIONED = """
    from vobjects import Request, added, fields, register, removed, renamed

    @register
    class Order(Request):
        {declaration}
"""

GIFT = "'gift': fields.StringField(nullable=True),"


class Shop:
    """Creates the environments of releases."""

    def __init__(self, directory: pathlib.Path) -> None:
        self._directory = directory

    def versioned(self, name: str, declaration: str) -> pathlib.Path:
        """Create an environment with a type of this library."""
        return self._create(name, VERSIONED.format(declaration=declaration))

    def release(
        self,
        name: str,
        version: str = '1.0',
        colors: tuple[str, ...] = ('red',),
        fields: str = '',
        convert: str = 'pass',
    ) -> pathlib.Path:
        """Create an environment, and return its path."""
        return self._create(
            name,
            MODULE.format(
                version=version, colors=colors, fields=fields, convert=convert
            ),
        )

    def _create(self, name: str, module: str) -> pathlib.Path:
        path = self._directory / name
        python = path / 'bin/python'
        python.parent.mkdir(parents=True)
        python.write_text(
            f'#!/bin/sh\nPYTHONPATH={path} exec {sys.executable} "$@"\n'
        )
        python.chmod(0o755)
        (path / 'shop.py').write_text(textwrap.dedent(module))
        return path


@pytest.fixture
def shop(tmp_path: pathlib.Path) -> Shop:
    return Shop(tmp_path)


def to_old(
    old: pathlib.Path, new: pathlib.Path, convert: bool = True
) -> cross_release.Transfer:
    """Return the transfer from the new release to the old one."""
    transfers = cross_release.transfer_all(old, new, ['shop'], convert)
    (transfer,) = (
        item for item in transfers if item.direction == 'new to old'
    )
    return transfer


def test_transfer_when_the_conversion_forgets_a_field_is_mislabelled(
    shop: Shop,
) -> None:
    transfer = to_old(
        shop.release('old'), shop.release('new', '1.1', fields=GIFT)
    )
    assert (transfer.outcome, transfer.detail) == ('mislabelled', 'gift')
    assert transfer.severity == 'warning'
    assert transfer.sent == 'only if a process sets an optional field'


def test_transfer_when_an_enum_has_a_new_value_is_rejected(
    shop: Shop,
) -> None:
    """The new value sorts last, so that only the peer's values select it."""
    transfer = to_old(
        shop.release('old', colors=('red', 'yellow')),
        shop.release('new', colors=('blue', 'red', 'yellow')),
    )
    assert (transfer.outcome, transfer.severity) == ('refused', 'error')
    assert 'blue' in transfer.detail
    assert transfer.sent == 'only with values that the receiver does not know'


@pytest.mark.parametrize('refused', ['blue', 'green', 'red'])
def test_transfer_when_one_value_of_an_enum_is_refused_reports_it(
    shop: Shop, refused: str
) -> None:
    """The conversion replaces new values, except for one."""
    convert = "c = primitive['color']; primitive['color'] = 'red'"
    convert += f" if c != '{refused}' else '{refused}?'"
    transfer = to_old(
        shop.release('old', colors=('black', 'red')),
        shop.release(
            'new',
            '1.1',
            colors=('black', 'blue', 'green', 'red'),
            convert=convert,
        ),
    )
    assert (transfer.outcome, transfer.severity) == ('refused', 'error')
    assert f'{refused}?' in transfer.detail


@pytest.mark.parametrize(
    ('error', 'outcome', 'severity'),
    [
        ("Refused('blue is new')", 'withheld', 'note'),
        ("ValueError('blue is new')", 'withheld', 'note'),
        ("KeyError('blue')", 'crashed', 'error'),
    ],
)
def test_transfer_when_the_sender_raises_judges_the_error(
    shop: Shop, error: str, outcome: str, severity: str
) -> None:
    transfer = to_old(
        shop.release('old'),
        shop.release(
            'new',
            '1.1',
            colors=('blue', 'red'),
            convert=f"if primitive['color'] == 'blue': raise {error}",
        ),
    )
    assert (transfer.outcome, transfer.severity) == (outcome, severity)


def test_transfer_when_the_sender_always_raises_is_crashed(
    shop: Shop,
) -> None:
    old = shop.release('old')
    new = shop.release('new', '1.1', convert="raise Refused('too old')")
    assert to_old(old, new).outcome == 'crashed'
    lossy = shop.release(
        'lossy',
        '1.1',
        convert='from vobjects.exceptions import LossyDowngrade;'
        " raise LossyDowngrade('Order', 'color', 'red', '1.1', '1.0')",
    )
    assert to_old(old, lossy).outcome == 'withheld'


def test_transfer_without_conversion_sends_the_newest_version(
    shop: Shop,
) -> None:
    old = shop.release('old')
    new = shop.release(
        'new', '1.1', fields=GIFT, convert="primitive.pop('gift', None)"
    )
    assert to_old(old, new).severity == 'note'
    transfer = to_old(old, new, convert=False)
    assert (transfer.outcome, transfer.severity) == ('refused', 'error')
    assert 'IncompatibleObjectVersion' in transfer.detail
    assert transfer.sent == 'by each process that sends the type'
    assert not cross_release.transfer_all(old, old, ['shop'], convert=False)


def test_transfer_of_a_renamed_field_is_fine_in_both_directions(
    shop: Shop,
) -> None:
    transfers = cross_release.transfer_all(
        shop.versioned(
            'old', "fields = {'color': fields.EnumField(['red', 'blue'])}"
        ),
        shop.versioned(
            'new',
            "VERSION = '1.1'; VERSION_MAP = {'1.1': '1.1'}; fields ="
            " {'colour': renamed('1.1', 'color',"
            " fields.EnumField(['red', 'blue']))}",
        ),
        ['shop'],
    )
    assert [transfer.outcome for transfer in transfers] == ['fine', 'fine']


def test_transfer_when_the_receiver_has_given_up_a_value_is_a_note(
    shop: Shop,
) -> None:
    _to_old, to_new = cross_release.transfer_all(
        shop.versioned(
            'old', "fields = {'gift': fields.StringField(nullable=True)}"
        ),
        shop.versioned(
            'new',
            "VERSION = '1.1'; VERSION_MAP = {'1.1': '1.1'}; fields ="
            " {'gift': removed('1.1', fields.StringField(nullable=True),"
            " dropped='1.1')}",
        ),
        ['shop'],
    )
    assert (to_new.outcome, to_new.severity) == ('refused', 'note')
    assert 'no longer supports this data' in to_new.reason
