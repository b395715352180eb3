# SPDX-License-Identifier: Apache-2.0
"""Code that follows the advice of `vobjects lock check` passes the check.

:data:`CASES` has edits of a class for each rule. A test applies the suggested
lines to the source that provoked them, as they are, and then runs `update`,
`check` and the invariants.
"""

from __future__ import annotations

import ast
import dataclasses
import itertools
import json
import pathlib
import re
import textwrap
from collections.abc import Callable, Iterator

import pytest

from tests.unit.vobjects.lock.factories import accept
from vobjects.cli import lock as cli
from vobjects.lock import annotation_code, parse, rules
from vobjects_testing import invariants

MODULE = """\
import vobjects
from oslo_versionedobjects import base
from vobjects import IMPORTS


def register_all():
    @REGISTER
    class Order(PARENT):
        VERSION = '1.0'
        fields = {
            'item': fields.StringField(),
            FIELDS
        }
        BODY
        LABELS = {'count': 'Number of items'}
"""

PARENTS = {
    'Object': ('vobjects.register', 'vobjects.Object'),
    'Request': ('vobjects.register', 'vobjects.Request'),
    'Resource': ('vobjects.register', 'vobjects.Resource'),
    'plain': (
        'base.VersionedObjectRegistry.register',
        'base.VersionedObject',
    ),
}
DECLARED = ('Object', 'Request', 'Resource')
PLAIN = ('plain',)

#: Name -> the field `count` with an earlier history, which ends at 1.1.
HISTORIES = {
    'none': 'FIELD',
    'added': "added('1.1', FIELD)",
    'renamed': "renamed('1.1', 'n', FIELD)",
    'changed': (
        "changed('1.1', fields.FloatField(default=1.0), FIELD,"
        ' up=from_float, down=to_float)'
    ),
}

#: Other changes at 1.1, for a field without history.
OTHER = "'gift': added('1.1', fields.BooleanField(default=False)),"

#: Functions that the module has, and those that the advice asks you to write.
FUNCTIONS = """
def from_float(value):
    if value != 1.0:
        raise ValueError
    return VALUE


def to_float(value):
    if value != VALUE:
        raise ValueError
    return 1.0


def to_b(value):
    return 'b'


def to_a(value):
    return 'a'


def to_list(value):
    return [value]


def to_item(value):
    (item,) = value
    return item
"""

SENTENCES = 'fields.EnumField(valid_values=[{}], default="a")'
NAME = 'fields.NameField(maximum={}, default="a")'


@dataclasses.dataclass(frozen=True)
class Case:
    """A released field `count`, and the field after an edit; empty: none.

    :ivar value: a value of the released field, as Python code
    :ivar histories: names in :data:`HISTORIES`
    """

    released: str
    edited: str
    kinds: tuple[str, ...] = (*DECLARED, *PLAIN)
    value: str = "'a'"
    histories: tuple[str, ...] = tuple(HISTORIES)


NUMBER = 'fields.IntegerField(default=1)'
WORD = 'fields.StringField(default="a")'

UNCHANGED = ('none', 'added', 'renamed')

#: The kinds of edits of a field, without a new version.
EDITS = {
    'ADD': [
        Case('', NUMBER, histories=('none',)),
        Case('', 'fields.StringField()', histories=('none',)),
        Case('', f"{NUMBER}, 'more': {WORD}", histories=('none',)),
    ],
    'REMOVE': [
        Case(NUMBER, '', value='1'),
        Case('fields.StringField()', '', histories=('none', 'renamed')),
        Case(NAME.format(64), ''),
        Case('fields.UUIDField(nullable=True)', '', histories=('added',)),
    ],
    'RENAME': [Case(NUMBER, 'RENAMED', value='1', histories=('none',))],
    'TYPE': [
        Case(
            NUMBER,
            'fields.StringField(default="1")',
            value='1',
            histories=UNCHANGED,
        ),
        Case(
            WORD,
            'fields.ListOfStringsField(default=["a"])',
            histories=UNCHANGED,
        ),
        Case(
            'fields.StringField()',
            'fields.ListOfStringsField()',
            histories=('none', 'renamed'),
        ),
    ],
    'NULLABLE': [
        Case(WORD, 'fields.StringField(default="a", nullable=True)'),
        Case(
            'fields.StringField()',
            'fields.StringField(nullable=True)',
            histories=('none', 'renamed'),
        ),
    ],
    'NOT_NULLABLE': [
        Case('fields.StringField(default="a", nullable=True)', WORD),
        Case(
            'fields.StringField(nullable=True)',
            'fields.StringField()',
            histories=('none', 'renamed'),
        ),
    ],
    'DEFAULT': [
        Case(NUMBER, 'fields.IntegerField(default=2)', value='1'),
        Case(
            NUMBER,
            'fields.IntegerField()',
            kinds=DECLARED,
            histories=('none', 'renamed'),
        ),
    ],
    'NARROWED': [
        Case(SENTENCES.format('"a", "b"'), SENTENCES.format('"a"')),
        Case(
            SENTENCES.format('"a", "b"'),
            'fields.EnumField(valid_values=["b"], default="b")',
            histories=UNCHANGED,
        ),
    ],
    'WIDENED': [
        Case(SENTENCES.format('"a"'), SENTENCES.format('"a", "b, c"')),
        Case(
            'fields.ListOfEnumField(valid_values=["a"], nullable=True)',
            'fields.ListOfEnumField(valid_values=["a", "b"], nullable=True)',
            histories=('none', 'added'),
        ),
    ],
    'LIMITS': [
        Case(NAME.format(64), NAME.format(32)),
        Case(NAME.format(32), NAME.format(64)),
    ],
}

#: Rule -> the edits that it reports.
FIELD_RULES = {
    'FIELD_NO_ADD': ['ADD', 'RENAME'],
    'FIELD_NO_REMOVE': ['REMOVE', 'RENAME'],
    'FIELD_SAME_TYPE': ['TYPE'],
    'FIELD_STAYS_NOT_NULL': ['NULLABLE'],
    'FIELD_STAYS_NULLABLE': ['NOT_NULLABLE'],
    'FIELD_SAME_DEFAULT': ['DEFAULT'],
    'ENUM_NO_NARROW': ['NARROWED'],
    'ENUM_NO_WIDEN': ['WIDENED'],
    'FIELD_SAME_LIMITS': ['LIMITS'],
}
STEP_RULES = {
    'ADDED_CONVERTED': ['ADD'],
    'REMOVED_CONVERTED': ['REMOVE'],
    'RETYPED_CONVERTED': ['TYPE'],
    'NULLABLE_CONVERTED': ['NULLABLE'],
    'NOT_NULLABLE_CONVERTED': ['NOT_NULLABLE'],
    'DEFAULT_CONVERTED': ['DEFAULT'],
    'NARROWED_CONVERTED': ['NARROWED'],
    'WIDENED_CONVERTED': ['WIDENED'],
    'LIMITS_CONVERTED': ['LIMITS'],
}

GIFT = OTHER.replace('False)', 'False), on_drop="ignore"')
MAPPED = {'1.4': '1.1'}


def type_cases() -> Iterator[tuple[str, str, str, str]]:
    """Yield a rule, a kind, a released module and an edit of it."""
    for kind in DECLARED:
        for history, other in (
            (GIFT, OTHER),
            (f"'count': renamed('1.1', 'n', {WORD}),", f"'count': {WORD},"),
            (f"'old': removed('1.1', {WORD}),", ''),
            (f"'count': added('1.1', {WORD}),", f"'count': {WORD},"),
        ):
            reason = "NO_FIELD_CHANGES = {'1.1': 'Why.'}"
            yield (
                'CONVERSION_NO_REMOVE',
                kind,
                module(kind, '1.1', history),
                module(kind, '1.1', other, reason if other != OTHER else ''),
            )
    for kind in PARENTS:
        yield (
            'NAMESPACE_NO_CHANGE',
            kind,
            module(kind, '1.0', ''),
            module(kind, '1.0', '', "OBJ_PROJECT_NAMESPACE = 'x'"),
        )
    for kind in ('Request', 'Resource'):
        released = module(kind, '1.1', OTHER)
        moved = released.replace("{'1.1': '1.1'}", "{'1.2': '1.1'}")
        yield 'MICROVERSION_NO_MOVE', kind, released, moved
    lowered = module('plain', '1.0', '')
    for version in ('1.0', '1.1'):
        released = module('plain', version, '', REMOTE)
        changed = released.replace('self, context', 'self, context, depth')
        yield 'METHODS_SAME', 'plain', released, changed
    yield 'VERSION_NO_FALL', 'plain', module('plain', '1.1', ''), lowered
    for body in (
        "obj_relationships = {'objects': [('1.0', '1.0')]}",
        "child_versions = {'1.0': '1.0'}",
    ):
        child = "'objects': fields.ListOfObjectsField('Item'),"
        released = CHILD + module('plain', '1.0', child, body).replace(
            'def register_all():', 'def register_all():\n    register_item()\n'
        )
        yield 'CHILD_MAPPED', 'plain', released, released.replace(*NEW_CHILD)


REMOTE = """@base.remotable
        def go(self, context):
            pass
"""
CHILD = """\
from oslo_versionedobjects import base, fields


def register_item():
    @base.VersionedObjectRegistry.register
    class Item(base.VersionedObject):
        VERSION = '1.0'
        fields = {'a': fields.StringField()}


"""
NEW_CHILD = (
    """VERSION = '1.0'
        fields = {'a'""",
    """VERSION = '1.1'
        fields = {'a'""",
)

#: Old and new field class -> functions for `up` and `down`.
CONVERTERS = {
    'EnumField': ('to_b', 'to_a'),
    'FloatField': ('from_float', 'to_float'),
    'IntegerField': ('str', 'int'),
    'StringField': ('to_list', 'to_item'),
}

#: Rules whose advice makes a field nullable.
BECOMES_NULLABLE = (
    'FIELD_STAYS_NOT_NULL',
    'FIELD_SAME_DEFAULT',
    'NULLABLE_CONVERTED',
)

#: Why null need not survive in an older peer: its field rejects null.
EXEMPT = {'returned Order.count': 'null becomes the default of the old field'}

Advice = tuple[str, str, str, str]


def advice_in_words() -> Iterator[Advice]:
    """Yield a rule, a released module, an edit of it, and a line of the lock.

    Their advice is a sentence, a command, or an edit of the lock.
    """
    gone = GONE_CLASS
    for kind in PARENTS:
        released = module(kind, '1.0', '')
        yield 'TYPE_NO_REMOVE', released + gone, released, ''
        yield (
            'ACCEPTANCE_USED',
            released,
            released,
            'FIELD_NO_ADD Order.gift until 2999-01-01: unused',
        )
    for old, new in itertools.permutations(DECLARED, 2):
        yield (
            'KIND_NO_CHANGE',
            module(old, '1.0', ''),
            module(new, '1.0', ''),
            '',
        )
    for kind in ('Request', 'Resource'):
        released = module(kind, '1.1', OTHER) + SERVICE
        moved = released.replace("{'1.1': '1.1'}", "{'1.2': '1.1'}")
        yield 'MICROVERSION_LISTED', moved, moved, ''
    plain = module('plain', '1.0', '')
    yield 'MAJOR_STAYS', plain, module('plain', '2.0', ''), ''
    for kind in DECLARED:
        released = module(kind, '1.0', '')
        yield 'LOCK_CURRENT', released, released + gone, ''
        yield 'VERSION_NO_FALL', module(kind, '1.1', OTHER), released, ''
        yield (
            'ACCEPTANCE_CURRENT',
            released,
            module(kind, '1.0', f"'gift': {WORD},"),
            'FIELD_NO_ADD Order.gift until 2020-01-01: expired',
        )


SERVICE = """
SERVICE = vobjects.Service(
    name='shop', history={'1.1': ['Gifts.']}, types=('shop',)
)
"""
ENTRY_POINTS = """
[vobjects.services]
shop = shop
"""

GONE_CLASS = """
    @vobjects.register
    class Gone(vobjects.Object):
        fields = {'a': fields.StringField()}
"""


def module(kind: str, version: str, field: str, body: str = '') -> str:
    """Return the source of a module with a class of a kind."""
    register, parent = PARENTS[kind]
    if version == '1.1' and kind in ('Request', 'Resource'):
        body = f"VERSION_MAP = {{'1.1': '1.1'}}\n        {body}"
    names = [
        name
        for name in ('added', 'changed', 'removed', 'renamed')
        if f'{name}(' in field
    ]
    return (
        MODULE.replace('IMPORTS', ', '.join(['fields', *names]))
        .replace('REGISTER', register)
        .replace('PARENT', parent)
        .replace("'1.0'", repr(version))
        .replace('FIELDS', field)
        .replace('BODY', body)
    )


def field_cases() -> Iterator[tuple[str, str, str, str]]:
    """Yield a rule, a kind, a released module and an edit of it."""
    number = 0
    for rule, edits in FIELD_RULES.items():
        for case in (case for edit in edits for case in EDITS[edit]):
            number += 1
            for kind in case.kinds:
                for history in histories(case, kind, number):
                    yield rule, kind, *sources(case, kind, history)
    for rule, edits in STEP_RULES.items():
        for case in (case for edit in edits for case in EDITS[edit]):
            if 'plain' in case.kinds:
                released, edited = sources(case, 'plain', 'none')
                yield (
                    rule,
                    'plain',
                    released,
                    edited.replace("VERSION = '1.0'", "VERSION = '1.1'"),
                )


def histories(case: Case, kind: str, number: int) -> list[str]:
    """Return all histories for requests; for others, one and none.

    The advice on a history does not depend on the kind.
    """
    if kind == 'Request':
        return [*case.histories]
    found = [name for name in case.histories if name == 'none']
    earlier = [name for name in case.histories if name != 'none']
    if kind != 'plain' and earlier:
        found.append(earlier[number % len(earlier)])
    return found


def sources(case: Case, kind: str, history: str) -> tuple[str, str]:
    """Return the released and the edited module."""
    functions = FUNCTIONS.replace('VALUE', case.value)
    pattern = f"'count': {HISTORIES[history]},"
    entries = [
        pattern.replace('FIELD', field) if field else ''
        for field in (case.released, case.edited)
    ]
    if case.edited == 'RENAMED':
        entries[1] = entries[0].replace("'count'", "'number'")
    version = '1.0' if history == 'none' else '1.1'
    if kind in DECLARED and not case.released:
        version = '1.1'
        entries = [f'{OTHER} {entry}' for entry in entries]
    body = ''
    if kind in DECLARED and version == '1.1' and not case.edited:
        # The field was the only change.
        body = "NO_FIELD_CHANGES = {'1.1': 'Why.'}"
    released, edited = (
        module(kind, version, entry, body if entry is entries[1] else '')
        for entry in entries
    )
    return released + functions, edited + functions


def annotated(source: str) -> str:
    """Return a module whose class Order declares its fields by annotations."""
    tree = ast.parse(source)
    head = 'import datetime\nfrom typing import Annotated, Any\n'
    head += 'from vobjects import UNSET\n'
    for cls in ast.walk(tree):
        if not isinstance(cls, ast.ClassDef) or cls.name != 'Order':
            continue
        for declared in [*cls.body]:
            if not isinstance(declared, ast.Assign) or not isinstance(
                declared.value, ast.Dict
            ):
                continue
            if ast.unparse(declared.targets[0]) == 'fields':
                cls.body.remove(declared)
                for key, value in zip(
                    declared.value.keys, declared.value.values, strict=True
                ):
                    assert isinstance(key, ast.Constant)
                    line = annotation_code.as_annotation(
                        key.value, ast.unparse(value)
                    )
                    cls.body += ast.parse(line).body
    return head + ast.unparse(tree)


DICTIONARIES = [*field_cases(), *type_cases()]
CASES = [
    *DICTIONARIES,
    # A sample: the advice itself is the same.
    *(
        (rule, kind, annotated(released), annotated(edited))
        for rule, kind, released, edited in DICTIONARIES[::4]
        if kind in DECLARED
    ),
]
SENTENCES = [*advice_in_words()]


def test_every_rule_has_a_case() -> None:
    tested = {rule for rule, *_case in [*CASES, *SENTENCES]}
    assert tested == {rule.id for rule in rules.RULES}


def with_converters(line: str) -> str:
    """Return a line with functions that the module has.

    The advice asks the user to write them.
    """
    for old, (up, down) in CONVERTERS.items():
        line = re.sub(
            rf'(fields\.{old}.*up=)count_to_\d_\d, down=count_from_\d_\d',
            rf'\1{up}, down={down}',
            line,
        )
    return line


def applied(source: str, lines: list[str]) -> str:
    """Return the source with the suggested lines in the class Order."""
    tree = ast.parse(source)
    cls = next(
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and node.name == 'Order'
    )
    heading = next((line for line in lines if line.startswith('# at')), '')
    if heading:
        at = lines.index(heading)
        method = heading.split()[5].rstrip(',')
        (function,) = (
            node
            for node in cls.body
            if isinstance(node, ast.FunctionDef) and node.name == method
        )
        function.body += ast.parse(textwrap.dedent('\n'.join(lines[at:]))).body
        lines = lines[:at]
    entries = [line for line in lines if line.startswith("'")]
    others = [line for line in lines if not line.startswith("'")]
    for statement in ast.parse('\n'.join(others)).body:
        if isinstance(statement, ast.ImportFrom | ast.Import):
            tree.body.insert(0, statement)
            continue
        if isinstance(statement, ast.Assign):
            (target,) = map(ast.unparse, statement.targets)
            cls.body = [
                node
                for node in cls.body
                if not isinstance(node, ast.Assign)
                or ast.unparse(node.targets[0]) != target
            ]
        if isinstance(statement, ast.AnnAssign):
            cls.body = [
                node
                for node in cls.body
                if not isinstance(node, ast.AnnAssign)
                or ast.unparse(node.target) != ast.unparse(statement.target)
            ]
        cls.body.append(statement)
    declared = next(
        (
            node.value
            for node in cls.body
            if isinstance(node, ast.Assign)
            and ast.unparse(node.targets[0]) == 'fields'
        ),
        None,
    )
    for entry in entries:
        assert isinstance(declared, ast.Dict)
        new = ast.parse(f'{{{entry}\n}}', mode='eval').body
        assert isinstance(new, ast.Dict)
        for number, key in enumerate(declared.keys):
            if ast.unparse(key or new) == ast.unparse(new.keys[0] or new):
                del declared.keys[number], declared.values[number]
                break
        declared.keys += new.keys
        declared.values += new.values
    return ast.unparse(ast.fix_missing_locations(tree))


@pytest.mark.parametrize(('rule', 'kind', 'released', 'edited'), CASES)
def test_check_when_its_advice_is_applied_passes(
    replace_shop: Callable[[str], None],
    rule: str,
    kind: str,
    released: str,
    edited: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    replace_shop(released)
    assert cli.main(['init', '--import', 'shop:register_all']) == 0
    assert cli.main(['release', '1']) == 0

    replace_shop(edited)
    capsys.readouterr()
    assert cli.main(['check', '-o', 'json']) == 1
    findings = [
        finding
        for finding in json.loads(capsys.readouterr().out)['findings']
        if finding['write'] and finding['rule'] != 'LOCK_CURRENT'
    ]
    subjects = [f['field'] for f in findings if f['rule'] == rule]
    # A renamed field is not reported under its old name, too.
    assert len(subjects) == len({*subjects} - {'n'})
    for finding in findings:
        finding['write'] = [*map(with_converters, finding['write'])]
        assert '...' not in '\n'.join(finding['write'])
        edited = applied(edited, finding['write'])

    replace_shop(edited)
    assert cli.main(['update']) == 0, edited
    assert cli.main(['check']) == 0, edited
    nullable = any(f['rule'] in BECOMES_NULLABLE for f in findings)
    for case in invariants.cases(parse.load(parse.DEFAULT_PATH)):
        case.exempt = EXEMPT if nullable else {}
        case.check(examples=20 if nullable else 2)


def class_source(source: str, name: str) -> ast.stmt:
    """Return a class of the function register_all."""
    (found,) = (
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ClassDef) and node.name == name
    )
    return found


def obey(advice: str, released: str, edited: str) -> str:
    """Do as a line of advice says; return the new source of the module.

    :raises AssertionError: the advice is not of a known form
    """
    lock = pathlib.Path(parse.DEFAULT_PATH)
    lines = lock.read_text().splitlines(keepends=True)
    if gone := re.match(r'# keep (?:the class of|a class) (\w+) ', advice):
        tree = ast.parse(edited)
        (function,) = (
            node
            for node in tree.body
            if isinstance(node, ast.FunctionDef)
            and node.name == 'register_all'
        )
        # The registry finds the newest class of a name first.
        function.body.append(class_source(released, gone[1]))
        return ast.unparse(tree)
    if kinds := re.search(
        r'derive the class from (\S+), not from (\S+)$', advice
    ):
        return edited.replace(kinds[2], kinds[1])
    if advice.startswith('# and restore the changes of each version'):
        return released
    if entry := re.match(r'add (.*) to the history,', advice):
        return edited.replace('history={', f'history={{{entry[1]}, ')
    if command := re.fullmatch(r'run "vobjects lock (\w+)"', advice):
        assert cli.main([command[1]]) == 0
    elif line := re.fullmatch(
        r'delete "(.*) \.\.\." from the list "accept"', advice
    ):
        kept = [text for text in lines if line[1] not in text]
        assert len(kept) == len(lines) - 1
        lock.write_text(''.join(kept))
    else:
        assert 'or change the date and the reason in the list' in advice
        lock.write_text(''.join(lines).replace('2020', '2999'))
    return edited


@pytest.mark.parametrize(('rule', 'released', 'edited', 'accepted'), SENTENCES)
def test_check_when_its_advice_in_words_is_followed_passes(
    replace_shop: Callable[[str], None],
    rule: str,
    released: str,
    edited: str,
    accepted: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    replace_shop(released)
    if SERVICE in released:
        distribution = pathlib.Path('shop-1.dist-info')
        distribution.mkdir()
        (distribution / 'METADATA').write_text('Name: shop\nVersion: 1\n')
        (distribution / 'entry_points.txt').write_text(ENTRY_POINTS)
    assert cli.main(['init', '--import', 'shop:register_all']) == 0
    assert cli.main(['release', '1']) == 0
    lock = pathlib.Path(parse.DEFAULT_PATH)
    if accepted:
        lock.write_text(accept(lock.read_text(), accepted))
    replace_shop(edited)
    capsys.readouterr()
    assert cli.main(['check', '-o', 'json']) == 1
    findings = json.loads(capsys.readouterr().out)['findings']
    (finding,) = (f for f in findings if f['rule'] == rule)
    advice = finding['write'][-1]
    edited = obey(advice, released, edited)
    replace_shop(edited)
    if rule == 'MAJOR_STAYS':  # the new class is not in the lock yet
        assert cli.main(['update']) == 0
    assert cli.main(['check']) == 0, capsys.readouterr().out
