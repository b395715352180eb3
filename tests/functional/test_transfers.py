# SPDX-License-Identifier: Apache-2.0
"""Transfers between two releases of a small service."""

from __future__ import annotations

import pathlib
import sys

import pytest

from vobjects.cli import main
from vobjects_releases.transfers import transfer_all

HEAD = """\
from oslo_versionedobjects import base, fields

register = base.VersionedObjectRegistry.register


@register
class Same(base.VersionedObject):
    fields = {'at': fields.DateTimeField(), 'note': fields.StringField()}


@register
class Payload(base.VersionedObject):
    def __init__(self, node):
        super().__init__()


@register
class Connected(base.VersionedObject):
    fields = {'a': fields.StringField()}

    def __init__(self):
        raise ConnectionError('no message bus')


@register
class Notification(base.VersionedObject):
    fields = {'payload': fields.ObjectField('Payload')}

"""


def environment(directory: pathlib.Path, code: str) -> pathlib.Path:
    """Return a directory like a virtual environment with the service."""
    library = directory / 'lib'
    python = directory / 'bin' / 'python'
    library.mkdir(parents=True)
    python.parent.mkdir()
    (library / 'shop.py').write_text(code)
    python.write_text(
        f'#!/bin/sh\nPYTHONPATH={library} exec {sys.executable} "$@"\n'
    )
    python.chmod(0o755)
    return directory


TYPES = """
# Each type is declared by: name, version, fields, and what a sender drops.
A, B = fields.StringField(), fields.StringField()
OPTIONAL = fields.StringField(nullable=True)


def word(*values, **options):
    return fields.EnumField(valid_values=values, **options)


def declare(name, version, declared, drop=''):
    def obj_make_compatible(self, primitive, target_version):
        for field in drop.split():
            del primitive[field]

    body = {'VERSION': version, 'fields': declared}
    if drop:
        body['obj_make_compatible'] = obj_make_compatible
    register(type(name, (base.VersionedObject,), body))


if RELEASE == 'old':
    declare('Drops', '1.0', {'a': A, 'b': B})
    declare('DropsOptional', '1.0', {'a': A, 'b': OPTIONAL})
    declare('DropsBoth', '1.0', {'a': A, 'b': B})
    declare('Adds', '1.0', {'a': A})
    declare('AddsOptional', '1.0', {'a': A})
    declare('Keeps', '1.0', {'a': A})
    declare('KeepsOptional', '1.0', {'a': A})
    declare('Removes', '1.0', {'a': A, 'b': B})
    declare('RemovesOptional', '1.0', {'a': A, 'b': OPTIONAL})
    declare('Crashes', '1.0', {'a': A})
    declare('CrashesOptional', '1.0', {'a': OPTIONAL})
    declare('Words', '1.0', {'a': word('x')})
    declare('NewWords', '1.0', {'a': word('x')})
    declare('NewWordsOptional', '1.0', {'a': word('x', nullable=True)})
    declare('Renumbered', '1.0', {'a': A})
else:
    declare('Drops', '1.1', {'a': A, 'b': B}, 'b')
    declare('DropsOptional', '1.1', {'a': A, 'b': OPTIONAL}, 'b')
    declare('DropsBoth', '1.1', {'a': A, 'b': B, 'c': A}, 'b c')
    declare('Adds', '1.1', {'a': A, 'b': B}, 'b')
    declare('AddsOptional', '1.1', {'a': A, 'b': OPTIONAL}, 'b')
    declare('Keeps', '1.1', {'a': A, 'b': B})
    declare('KeepsOptional', '1.1', {'a': A, 'b': OPTIONAL})
    declare('Removes', '1.1', {'a': A})
    declare('RemovesOptional', '1.1', {'a': A})
    declare('Crashes', '1.1', {'a': A}, 'nothing')
    declare('CrashesOptional', '1.1', {'a': OPTIONAL}, 'nothing')
    declare('Words', '1.0', {'a': word('y')})
    declare('NewWords', '1.1', {'a': word('y')})
    declare('NewWordsOptional', '1.1', {'a': word('y', nullable=True)})
    declare('Renumbered', '2.0', {'b': B})

print('output of an import')
"""

ALWAYS = 'by each process that sends the type'
OPTIONAL = 'only if a process sets an optional field'
UNKNOWN = 'only with values that the receiver does not know'

BOTH_HAVE = 'both releases have the field, but it does not arrive'
OLDER_LACKS = 'the older release has no such field; the sender drops it'
NEWER_REMOVED = (
    'the newer release removed the field in a minor version, and ignores it'
)
CANNOT_CONVERT = 'the sender cannot convert the object to 1.0'
NOT_ACCEPTED = 'the receiver does not accept this object as 1.0'


def kept_by_sender(name: str) -> str:
    return (
        f'{name} 1.0 has no such field; the sender does not drop it, and the'
        ' receiver ignores it'
    )


#: (type, direction) -> (outcome, detail, severity, reason, sent); all other
#: transfers are fine.
EXPECTED = {
    ('Drops', 'new to old'): ('lost', 'b', 'error', BOTH_HAVE, ALWAYS),
    ('DropsOptional', 'new to old'): (
        *('lost', 'b', 'error', BOTH_HAVE, OPTIONAL),
    ),
    ('DropsBoth', 'new to old'): (
        *('lost', 'b, c', 'error', BOTH_HAVE, ALWAYS),
    ),
    ('Adds', 'new to old'): ('lost', 'b', 'note', OLDER_LACKS, ALWAYS),
    ('AddsOptional', 'new to old'): (
        *('lost', 'b', 'note', OLDER_LACKS, OPTIONAL),
    ),
    ('Keeps', 'new to old'): (
        *('mislabelled', 'b', 'warning', kept_by_sender('Keeps'), ALWAYS),
    ),
    ('KeepsOptional', 'new to old'): (
        *('mislabelled', 'b', 'warning'),
        *(kept_by_sender('KeepsOptional'), OPTIONAL),
    ),
    ('Removes', 'old to new'): (
        *('lost', 'b', 'warning', NEWER_REMOVED, ALWAYS),
    ),
    ('RemovesOptional', 'old to new'): (
        *('lost', 'b', 'warning', NEWER_REMOVED, OPTIONAL),
    ),
    ('Crashes', 'new to old'): (
        *('crashed', "KeyError: 'nothing'", 'error', CANNOT_CONVERT, ALWAYS),
    ),
    ('CrashesOptional', 'new to old'): (
        *('crashed', "KeyError: 'nothing'", 'error'),
        *(CANNOT_CONVERT, OPTIONAL),
    ),
    **{
        (name, direction): (
            *('refused', 'ValueError: Field value ', 'error'),
            *(NOT_ACCEPTED, sent),
        )
        for name, sent in (
            ('Words', UNKNOWN),
            ('NewWords', ALWAYS),
            ('NewWordsOptional', OPTIONAL),
        )
        for direction in ('new to old', 'old to new')
    },
}


@pytest.fixture(scope='module')
def releases(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[pathlib.Path, pathlib.Path]:
    """Environments with the older and the newer release."""
    directory = tmp_path_factory.mktemp('releases')
    old, new = (
        environment(directory / name, f'RELEASE = {name!r}\n{HEAD}{TYPES}')
        for name in ('old', 'new')
    )
    return old, new


def test_transfers_of_two_releases_reports_each_problem(
    releases: tuple[pathlib.Path, pathlib.Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    old, new = map(str, releases)

    assert main.main(['transfers', old, new, '--import=shop']) == 1

    stdout = capsys.readouterr().out.splitlines()
    for start in (
        'mislabelled Keeps 1.1 -> 1.0 (new to old): b',
        'refused     Words 1.0 -> 1.0 (new to old): ValueError',
        'crashed     Crashes 1.1 -> 1.0 (new to old): KeyError',
        'lost        Removes 1.0 -> 1.1 (old to new): b',
        'lost        Adds 1.1 -> 1.0 (new to old): b',
    ):
        assert any(line.startswith(start) for line in stdout), (start, stdout)
    severities = [line.split()[0] for line in stdout[1:-1:3]]
    assert sorted(severities) == sorted(
        f'{severity}:' for _, _, severity, _, _ in EXPECTED.values()
    )
    assert stdout[2].startswith('    sent ')
    assert stdout[-1] == f'30 transfers, {30 - len(EXPECTED)} without problems'

    assert main.main(['transfers', old, old, '--import=shop']) == 0


SEPARATE_REGISTRY = """\
import collections
from oslo_versionedobjects import base, fields


class Registry(base.VersionedObjectRegistry):
    classes = collections.defaultdict(list)

    def __new__(cls):
        registry = object.__new__(cls)
        registry._obj_classes = cls.classes
        return registry


class Own(base.VersionedObject):
    @classmethod
    def obj_class_from_name(cls, name, version):
        (newest,) = Registry.classes[name]
        return newest


@Registry.register
class Rule(Own):
    fields = {'rate': fields.IntegerField()}


@Registry.register
class Policy(Own):
    VERSION = '1.NUMBER'
    fields = {
        'rules': fields.ListOfObjectsField('Rule'),
        'sharedNUMBER': fields.BooleanField(),
    }
"""


def test_transfers_of_service_with_separate_registry_reports_problems(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = (
        environment(tmp_path / name, SEPARATE_REGISTRY.replace('NUMBER', name))
        for name in ('0', '1')
    )
    words = ['transfers', str(old), str(new), '--import=shop']

    assert main.main(words) == 1

    assert capsys.readouterr().out.splitlines() == [
        'mislabelled Policy 1.1 -> 1.0 (new to old): shared1',
        '    warning: Policy 1.0 has no such field; the sender does not drop'
        ' it, and the receiver ignores it',
        '    sent by each process that sends the type',
        'lost        Policy 1.0 -> 1.1 (old to new): shared0',
        '    warning: the newer release removed the field in a minor version,'
        ' and ignores it',
        '    sent by each process that sends the type',
        '4 transfers, 2 without problems',
    ]


def test_transfers_when_environment_is_unusable_fails(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = environment(tmp_path / 'good', HEAD)
    bad = environment(
        tmp_path / 'bad', 'raise ImportError("missing dependency")'
    )
    for old, problem in (
        (tmp_path, 'is not a virtual environment'),
        (bad, 'the process ended: ImportError: missing dependency'),
    ):
        words = [str(old), str(good), '--import=shop']
        assert main.main(['transfers', *words]) == 2
        assert problem in capsys.readouterr().err


def test_finding_has_the_severity_and_reason_of_its_cause(
    releases: tuple[pathlib.Path, pathlib.Path],
) -> None:
    transfers = transfer_all(*releases, ['shop'])

    problems = {
        (item.type_name, item.direction): (
            item.outcome,
            item.detail[:24],
            item.severity,
            item.reason,
            item.sent,
        )
        for item in transfers
        if item.outcome != 'fine'
    }
    assert problems == EXPECTED
    assert 'Renumbered' not in {item.type_name for item in transfers}
    fine = [item for item in transfers if item.outcome == 'fine']
    assert {(i.severity, i.reason, i.sent) for i in fine} == {('note', '', '')}
