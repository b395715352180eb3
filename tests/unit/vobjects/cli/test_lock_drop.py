# SPDX-License-Identifier: Apache-2.0
"""`vobjects lock drop` folds the history that older microversions need."""

from __future__ import annotations

import pathlib
from collections.abc import Callable

import pytest
from oslo_versionedobjects import base as ovo_base

from vobjects import exceptions
from vobjects.cli import lock as cli
from vobjects.lock import parse
from vobjects.lock.model import LockError
from vobjects_testing import invariants

CODE = """\
import vobjects
from vobjects import UNSET, added, changed, fields, removed, renamed, words

BIG = fields.IntegerField(default=1)


@vobjects.register
class Order(vobjects.Request):
    VERSION = '1.3'  # é
    VERSION_MAP = {'1.2': '1.1', '1.4': '1.2', '1.7': '1.3'}
    NO_FIELD_CHANGES = {'1.2': 'Reads more.'}
    fields = {
        'item': renamed('1.1', 'thing', fields.StringField()),
        'size': changed(
            '1.3', changed('1.1', fields.StringField(default='1'), BIG,
            up=int, down=str), fields.IntegerField(default=1), up=int, down=int
        ),
        'gone': removed(
            '1.1', fields.StringField(default=''), dropped='1.1'),
        'kept': removed(
            '1.3', added('1.1', fields.StringField(nullable=True))),
    }
    gift: bool = added('1.1', default=False)
    note: str | None = added('1.1')
    tags: str = changed('1.1', int, default='0', up=str, down=int)
    word: str = renamed('1.3', 'text', changed('1.1', str | None, missing=''))
    kind: str = words({'a': None, 'b': '1.1', 'c': '1.3'}, instead='a')


@vobjects.register
class Bill(vobjects.Resource):
    VERSION_MAP = {'1.3': '1.0'}
    total: int


@vobjects.register
class Shown(vobjects.Resource):
    VERSION = '1.1'
    VERSION_MAP = {'1.2': '1.1'}
    total: int | None = added('1.1')
"""

FOLDED = """\
    VERSION = '1.3'
    OLDEST_VERSION = '1.2'  # é
    VERSION_MAP = {'1.7': '1.3'}
    fields = {
        'item': fields.StringField(),
        'size': changed(
            '1.3', BIG, fields.IntegerField(default=1), up=int, down=int
        ),
        'kept': removed(
            '1.3', fields.StringField(nullable=True)),
    }
    gift: bool = False
    note: str | None = UNSET
    tags: str = '0'
    word: str = renamed('1.3', 'text')
    kind: str = words({'a': None, 'b': None, 'c': '1.3'}, instead='a')
"""

METRICS = """\
# TYPE shop_uses counter
shop_uses_total{version="1.4",method="GET",route="/",agent="old"} 3
shop_uses_total{version="1.2",method="GET",route="/",agent="older"} 5
shop_uses_total{version="1.5",method="GET",route="/",agent="new"} 7
"""


def test_drop_folds_the_history_and_the_lock(
    replace_shop: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    replace_shop(CODE)
    assert cli.main(['init', '--import', 'shop']) == 0
    assert cli.main(['release', '1']) == 0
    pathlib.Path('metrics.txt').write_text(METRICS)
    capsys.readouterr()

    words = ['drop', '--below', '1.5', '--metrics', 'metrics.txt']
    assert cli.main(words) == 0
    shown = capsys.readouterr().out
    assert shown.splitlines()[:5] == [
        'Order 1.0, 1.1: dropped, 1.2 is oldest',
        'Shown 1.0: dropped, 1.1 is oldest',
        'clients of microversions below 1.5 are refused',
        '  older: 5 requests',
        '  old: 3 requests',
    ]
    assert "-    gift: bool = added('1.1', default=False)" in shown
    assert pathlib.Path('shop.py').read_text() == CODE

    assert cli.main([*words, '--write']) == 0
    folded = pathlib.Path('shop.py').read_text()
    assert FOLDED in folded
    assert (
        "    OLDEST_VERSION = '1.1'\n    total: int | None = UNSET" in folded
    )

    replace_shop(folded)
    capsys.readouterr()
    assert cli.main(['check']) == 0, capsys.readouterr().out
    lock = parse.load(parse.DEFAULT_PATH)
    assert [s.version for s in lock.types['Order']] == ['1.2', '1.3']
    for case in invariants.cases(lock):
        case.check(examples=5)
    order = ovo_base.VersionedObjectRegistry.obj_classes()['Order'][0]
    with pytest.raises(exceptions.ConversionError, match='oldest version is'):
        order(item='x').obj_to_primitive('1.1')


def test_drop_names_the_releases_that_are_no_longer_supported(
    replace_shop: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    first = CODE.partition('@vobjects')[0] + (
        '@vobjects.register\nclass Shown(vobjects.Resource):\n    pass\n'
    )
    replace_shop(first)
    assert cli.main(['init', '--import', 'shop']) == 0
    assert cli.main(['release', '1']) == 0
    replace_shop(CODE)
    assert cli.main(['release', '2']) == 0

    assert cli.main(['drop', '--below', '1.5', '--write']) == 0

    assert 'processes of release 1 cannot join' in capsys.readouterr().out
    golden = pathlib.Path('vobjects.golden')
    assert [path.name for path in golden.iterdir()] == ['2.jsonl']


def test_drop_when_a_base_class_declares_changes_keeps_the_type(
    replace_shop: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    base = CODE.replace('@vobjects.register\nclass Shown', 'class Shown')
    replace_shop(base + '\n@vobjects.register\nclass Sub(Shown):\n    pass\n')
    assert cli.main(['init', '--import', 'shop']) == 0
    assert cli.main(['drop', '--below', '1.5']) == 0
    shown = capsys.readouterr().out
    assert 'Sub 1.0: kept, its base class Shown declares changes' in shown


@pytest.mark.parametrize(
    'content',
    [
        None,
        b'\xff',
        b'a_uses_total{',
        b'a_uses_total{agent="a"} 1\n',
        b'a_uses_total{version="1",agent="a"} 1\n',
        b'a_uses_total{version="1.1",agent="a"} NaN\n',
    ],
)
def test_drop_when_the_metrics_are_invalid_names_their_file(
    content: bytes | None, replace_shop: Callable[[str], None]
) -> None:
    replace_shop(CODE)
    assert cli.main(['init', '--import', 'shop']) == 0
    path = pathlib.Path('metrics.txt')
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(LockError, match=r'^metrics\.txt is no response of '):
        cli.main(['drop', '--below', '1.5', '--metrics', str(path), '--write'])
    assert pathlib.Path('shop.py').read_text() == CODE
