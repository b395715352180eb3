# SPDX-License-Identifier: Apache-2.0
"""`vobjects lock`, `diff` and `history` on a small service."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from oslo_versionedobjects import base as ovo_base

from tests.unit.vobjects.lock.factories import accept
from vobjects.cli import lock as cli
from vobjects.cli import main
from vobjects.lock import golden, parse
from vobjects.lock.model import LockError
from vobjects_testing import golden_checks
from vobjects_testing.emulated_peer import EmulatedPeer

FIRST = """\
import vobjects
from vobjects import added, fields


def register_all():
    @vobjects.register
    class Order(vobjects.Object):
        VERSION = '1.0'
        fields = {
            'item': fields.StringField(),
            'count': fields.IntegerField(default=1),
        }
"""

SECOND = FIRST.replace("VERSION = '1.0'", "VERSION = '1.1'").replace(
    '(default=1),\n',
    "(default=1),\n            'gift': added('1.1', fields.BooleanField("
    'default=False)),\n',
)

#: `added` forgotten, and a reason given for the version.
BROKEN = (
    SECOND.replace("added('1.1', ", '')
    .replace('False)),', 'False),')
    .replace(
        "VERSION = '1.1'",
        "VERSION = '1.1'; NO_FIELD_CHANGES = {'1.1': 'Why.'}",
    )
)

ReplaceModule = Callable[[str], None]


@pytest.fixture
def shop(replace_shop: ReplaceModule) -> ReplaceModule:
    """Release the first version; return a function that replaces the code."""
    replace_shop(FIRST)
    assert cli.main(['init', '--import', 'shop:register_all']) == 0
    assert cli.main(['release', '1']) == 0
    return replace_shop


def output(capsys: pytest.CaptureFixture[str], code: int, *words: str) -> str:
    """Run a command of `vobjects lock`, and return its output."""
    capsys.readouterr()
    assert main.main(['lock', *words]) == code
    return capsys.readouterr().out


def test_lock_when_version_is_added_and_released_has_both(
    shop: ReplaceModule, capsys: pytest.CaptureFixture[str]
) -> None:
    path = pathlib.Path('vobjects.lock')
    assert 'OK: ' in output(capsys, 0, 'check')

    shop(SECOND)
    assert 'Order 1.1 is not in the lock' in output(capsys, 1, 'check')
    assert output(capsys, 0, 'update') == 'vobjects.lock: Order 1.1\n'
    assert output(capsys, 0, 'update') == 'vobjects.lock is current\n'
    assert '1 change covered by a conversion' in output(capsys, 0, 'check')
    output(capsys, 0, 'release', '2')
    assert parse.load(path).at('1').manifest() == {'Order': '1.0'}
    assert parse.load(path).at('2').manifest() == {'Order': '1.1'}
    assert sorted(
        p.name for p in pathlib.Path('vobjects.golden').iterdir()
    ) == [
        '1.jsonl',
        '2.jsonl',
    ]


def test_commands_when_released_version_is_edited_fail(
    shop: ReplaceModule, capsys: pytest.CaptureFixture[str]
) -> None:
    path = pathlib.Path('vobjects.lock')
    before = path.read_text()
    shop(BROKEN)
    for words in (['check'], ['update'], ['release', '2']):
        stdout = output(capsys, 1, *words)
        assert 'error[FIELD_NO_ADD]: Order 1.0 (1)' in stdout
        assert path.read_text() == before
    lines = stdout.splitlines()
    assert lines[1].strip() == '--> shop.py:12:13'
    assert lines[3] == (
        "12 |             'gift': fields.BooleanField(default=False),"
    )
    assert lines[4].endswith('|             ^^^^^^')
    assert (
        "'gift': added('1.1', fields.BooleanField(default=False))," in stdout
    )
    for order in ('new sender, old receiver:', 'stored data:', 'rollback:'):
        assert order in stdout


def test_messages_when_the_file_is_another_name_it(
    shop: ReplaceModule, capsys: pytest.CaptureFixture[str]
) -> None:
    pathlib.Path('vobjects.lock').rename('my shop.lock')
    file = ('--file', 'my shop.lock')
    shop(SECOND)
    update = "vobjects lock update --file 'my shop.lock'"

    assert f'run "{update}"' in output(capsys, 1, 'check', *file)
    with pytest.raises(LockError, match="init --import MODULE --file 'x y'"):
        cli.main(['check', '--file', 'x y'])

    pathlib.Path('my shop.lock').unlink()
    register = ('--import', 'shop:register_all')
    freeze = "vobjects lock release NAME --file 'my shop.lock'"
    assert f'"{freeze}"' in output(capsys, 0, 'init', *register, *file)


def test_release_again_replaces_the_newest_release(
    shop: ReplaceModule, capsys: pytest.CaptureFixture[str]
) -> None:
    shop(BROKEN)
    with pytest.raises(LockError, match='--again'):
        cli.main(['release', '1'])
    with pytest.raises(LockError, match='that is 1, not'):
        cli.main(['release', '0', '--again'])
    output(capsys, 0, 'release', '1', '--again')
    assert 'OK: ' in output(capsys, 0, 'check')


def test_check_reports_the_same_in_every_format(
    shop: ReplaceModule, capsys: pytest.CaptureFixture[str]
) -> None:
    shop(BROKEN)

    def report(name: str) -> str:
        return output(capsys, 1, 'check', '-o', name)

    document = json.loads(report('json'))
    rules = [finding['rule'] for finding in document['findings']]
    assert rules == ['FIELD_NO_ADD', 'LOCK_CURRENT']
    finding = document['findings'][0]
    assert finding['place'] == {'file': 'shop.py', 'line': 12, 'column': 13}
    assert finding['orders']['forward']['works'] is False

    (line, *_rest) = report('github').splitlines()
    assert line.startswith(
        '::error file=shop.py,line=12,col=13,title=FIELD_NO_ADD::Order 1.0'
    )
    assert '%0A' in line


def test_diff_accepts_every_kind_of_source(
    shop: ReplaceModule,
    capsys: pytest.CaptureFixture[str],
    tmp_path: pathlib.Path,
) -> None:
    for words in (
        ['init', '-q'],
        ['add', 'vobjects.lock'],
        ['-c', 'user.name=n', '-c', 'user.email=e', 'commit', '-qm', 'first'],
    ):
        subprocess.run(['git', *words], check=True)
    shop(SECOND)

    def diff(code: int, *words: str) -> str:
        capsys.readouterr()
        assert cli.diff(list(words)) == code
        return capsys.readouterr().out

    for old in ('1', 'HEAD', 'vobjects.lock'):
        stdout = diff(0, old)
        assert (
            "Order.gift: the field is new, covered by 'added gift'" in stdout
        )
    assert 'no changes' in diff(0, '1', 'HEAD')
    assert 'TYPE_NO_REMOVE' in diff(1, '1', 'json')
    # The reverse: a rollback from the new code to the old release.
    assert 'VERSION_NO_FALL' in diff(1, 'tree', '1')
    for source in ('nowhere', '--output=x'):
        with pytest.raises(LockError, match='is neither a file, nor'):
            cli.diff(['--', source, 'tree'])


def test_history_lists_versions_and_changes(
    shop: ReplaceModule, capsys: pytest.CaptureFixture[str]
) -> None:
    shop(SECOND)
    output(capsys, 0, 'update')
    assert cli.history(['Order']) == 0
    assert capsys.readouterr().out.splitlines() == [
        'Order 1.0: released in 1',
        '    count: Integer = 1',
        '    item: String',
        'Order 1.1: new',
        '  + gift: Boolean = false',
        '    added gift',
    ]
    with pytest.raises(LockError, match="has no type 'Nothing'"):
        cli.history(['Nothing'])


def test_release_when_type_was_removed_ends_it(
    shop: ReplaceModule, capsys: pytest.CaptureFixture[str]
) -> None:
    path = pathlib.Path('vobjects.lock')
    shop(FIRST.replace('class Order', 'class Bill'))
    # A process never forgets what an earlier import registered.
    ovo_base.VersionedObjectRegistry()._obj_classes.clear()
    assert 'TYPE_NO_REMOVE' in output(capsys, 1, 'update')
    line = 'TYPE_NO_REMOVE Order until 2999-01-01: no peer sends it'
    path.write_text(accept(path.read_text(), line))
    output(capsys, 0, 'release', '2')
    lock = parse.load(path)
    assert lock.at('2').manifest() == {'Bill': '1.0'}
    assert lock.at('1').manifest() == {'Order': '1.0'}
    stdout = output(capsys, 1, 'check')
    assert 'error[ACCEPTANCE_USED]' in stdout
    assert '--> vobjects.lock:12:1' in stdout


def test_commands_when_used_wrongly_raise(
    shop: ReplaceModule, tmp_path: pathlib.Path
) -> None:
    with pytest.raises(LockError, match='already exists'):
        cli.main(['init', '--import', 'shop:register_all'])
    with pytest.raises(LockError, match='registered no type'):
        cli.main(['init', '--import', 'json', '--file', 'other.lock'])
    with pytest.raises(LockError, match=r'other\.lock does not exist'):
        cli.main(['check', '--file', 'other.lock'])
    pathlib.Path('other.lock').write_text('format = 1\n')
    with pytest.raises(LockError, match='add "MODULE" to the list'):
        cli.main(['check', '--file', 'other.lock'])


def test_rules_lists_the_rules(capsys: pytest.CaptureFixture[str]) -> None:
    assert 'FIELD_NO_ADD' in output(capsys, 0, 'rules')


@pytest.mark.parametrize('path', ['x.lock', 'sub/x.lock'])
def test_lock_imports_modules_in_the_working_directory(
    shop: ReplaceModule,
    tmp_path: pathlib.Path,
    path: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        sys, 'path', [p for p in sys.path if p not in ('', str(tmp_path))]
    )
    shop(FIRST)
    (tmp_path / 'sub').mkdir()
    options = ['--file', path]
    imports = ['--import', 'shop:register_all']
    assert cli.main(['init', *options, *imports]) == 0
    for command in (['update'], ['release', '1'], ['check']):
        assert cli.main([*command, *options]) == 0
    assert cli.diff(['shop:register_all', 'tree', *options]) == 0


@pytest.mark.parametrize(
    ('code', 'message'),
    [
        ('def register_all(:\n', 'shop.py:1: SyntaxError: invalid syntax'),
        ('\n1 / 0\n', 'shop.py:2: ZeroDivisionError: division by zero'),
        ('import nowhere\n', "shop.py:1: No module named 'nowhere'"),
        ('import sys\nsys.exit(3)\n', 'shop.py:2: SystemExit: 3'),
        ('def register_all():\n    {}["a"]\n', "shop.py:2: KeyError: 'a'"),
        ('', 'name the code that registers the types'),
    ],
)
@pytest.mark.parametrize(
    'words',
    [
        ['lock', 'init', '--file', 'n.lock', '--import', 'shop:register_all'],
        ['lock', 'check'],
        ['lock', 'update'],
        ['lock', 'release', '2'],
        ['diff', '1'],
        ['diff', 'shop:register_all'],
    ],
)
def test_commands_when_an_import_fails_name_file_and_line(
    shop: ReplaceModule,
    code: str,
    message: str,
    words: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    shop(code)
    capsys.readouterr()
    assert main.main(words) == main.BAD_INPUT
    error = capsys.readouterr().err
    assert message in error
    assert error.count('\n') == 1


REQUIRED = """\
import vobjects
from vobjects import added, fields, removed


def register_all():
    @vobjects.register
    class Order(vobjects.KIND):
        VERSION = '1.0'
        fields = {'item': fields.StringField(), 'mode': fields.StringField()}
"""


@pytest.mark.parametrize(
    ('kind', 'steps'),
    [
        ('Request', ["removed('1.1', FIELD, dropped='1.1', instead='ctr')"]),
        ('Object', ["removed('1.1', FIELD, dropped='1.1', instead='ctr')"]),
        ('Resource', ["removed('1.1', FIELD, dropped='1.1', instead='ctr')"]),
        (
            'Resource',
            [
                "removed('1.1', FIELD)",
                "removed('1.1', FIELD, dropped='1.2', instead='ctr')",
            ],
        ),
    ],
)
def test_lock_when_a_required_field_is_dropped_accepts_each_release(
    shop: ReplaceModule, kind: str, steps: list[str]
) -> None:
    code = REQUIRED.replace('KIND', kind)
    options = ['--file', f'{kind}.lock']
    path = pathlib.Path(options[1])

    def replace(code: str) -> None:
        ovo_base.VersionedObjectRegistry()._obj_classes.clear()
        shop(code)

    replace(code)
    imports = ['--import', 'shop:register_all']
    assert cli.main(['init', *options, *imports]) == 0
    assert cli.main(['release', '1', *options]) == 0
    for minor, declared in enumerate(steps, 1):
        versions = range(1, minor + 1)
        version_map = {f'1.{n}': f'1.{n}' for n in versions}
        replace(
            code.replace(
                "VERSION = '1.0'",
                f"VERSION = '1.{minor}'\n        VERSION_MAP = {version_map}"
                if kind != 'Object'
                else f"VERSION = '1.{minor}'",
            ).replace(
                "'mode': fields.StringField()",
                f"'mode': {declared}".replace('FIELD', 'fields.StringField()'),
            )
        )
        for command in ('update', 'check'):
            assert cli.main([command, *options]) == 0
        order = ovo_base.VersionedObjectRegistry.obj_classes()['Order'][0]
        for release in parse.load(path).releases:
            for primitive in golden.read(path, release):
                manifest = parse.load(path).at(release).manifest()
                golden_checks.check(primitive, manifest)
                peer = EmulatedPeer(parse.load(path).at(release))
                sent = (
                    order(item='x', mode='ctr')
                    if 'mode' in order.fields
                    else order(item='x')
                )
                received: Any = peer.read(sent.obj_to_primitive('1.0'))
                assert received.mode == 'ctr'
        assert cli.main(['release', str(minor + 1), *options]) == 0
