# SPDX-License-Identifier: Apache-2.0
"""The command ``vobjects releases``."""

from __future__ import annotations

import json
import pathlib

import pytest

from vobjects.cli import main

OLD = "class Order:\n    VERSION = '1.0'\n    fields = {'a': 1}\n"
CONVERTS = "    def obj_make_compatible(self, data, version): data.pop('b')"
NEW = OLD.replace("'a': 1", "'a': 1, 'b': 2").replace('1.0', '1.1')


@pytest.fixture
def trees(tmp_path: pathlib.Path) -> list[str]:
    for name, source in (('old', OLD), ('new', NEW)):
        (tmp_path / name).mkdir()
        (tmp_path / name / 'order.py').write_text(source)
    return [str(tmp_path / name) for name in ('old', 'new')]


def test_releases_with_finding_prints_it_and_returns_1(
    trees: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(['releases', *trees]) == 1

    assert capsys.readouterr().out.splitlines() == [
        'order.py:1: OBJECT_FIELD_CONVERTED',
        '    Order.b is new in version 1.1, but no conversion to version 1.0'
        ' removes it',
        '    The conversion to an older version mentions each field that is'
        ' newer.',
        '1 finding',
    ]


@pytest.mark.parametrize(
    ('new', 'rule', 'text'),
    [
        (
            NEW,
            'OBJECT_FIELD_CONVERTED',
            'Order.b is new in version 1.1, but no conversion to version 1.0'
            ' removes it; no call seems to carry the type',
        ),
        (
            NEW.replace('1.1', '1.0'),
            'OBJECT_VERSION_RAISED',
            'Order.b is new, but the version of the type is still 1.0',
        ),
        (
            OLD.replace("'a'", "'b'").replace('1.0', '1.1') + CONVERTS,
            'OBJECT_FIELD_KEPT',
            'Order.a is not in version 1.1, and no conversion to version 1.0'
            ' adds it',
        ),
    ],
)
def test_releases_with_note_only_prints_it_and_returns_0(
    trees: list[str],
    capsys: pytest.CaptureFixture[str],
    new: str,
    rule: str,
    text: str,
) -> None:
    pathlib.Path(trees[1], 'order.py').write_text(new)
    client = (
        'import oslo_messaging\nclass API:\n    def ship(self):'
        " self.client.call(1, 'ship', {}=1)"
    ).format('name' if 'no call' in text else 'order')
    for tree in trees:
        pathlib.Path(tree, 'client.py').write_text(client)

    assert main.main(['releases', *trees]) == 0

    first, second, _, last = capsys.readouterr().out.splitlines()
    assert (first, second, last) == (
        f'order.py:1: {rule} (note)',
        f'    {text}',
        '0 findings, 1 note',
    )


def test_releases_as_json_has_each_part(
    trees: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(['releases', *trees, '-o', 'json']) == 1

    (item,) = json.loads(capsys.readouterr().out)
    assert (
        item['rule'],
        item['severity'],
        item['subject'],
        item['field'],
    ) == (
        'OBJECT_FIELD_CONVERTED',
        'error',
        'Order',
        'b',
    )


def test_releases_without_finding_returns_0(
    trees: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(['releases', trees[0], trees[0]]) == 0

    assert capsys.readouterr().out == '0 findings\n'


def test_releases_of_no_directory_returns_2(
    trees: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(['releases', trees[0], f'{trees[1]}/missing']) == 2

    assert 'missing is not a directory' in capsys.readouterr().err
