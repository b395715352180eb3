# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import datetime
import pathlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vobjects.lock import parse, text
from vobjects.lock.model import (
    BY_HAND,
    Acceptance,
    Conversion,
    FieldSchema,
    FieldType,
    Lock,
    LockError,
    TypeSchema,
    json_text,
    sorted_schemas,
    version_key,
)

names = st.from_regex(r'[A-Za-z_][A-Za-z0-9_]{0,8}', fullmatch=True).filter(
    lambda name: name not in ('true', 'false', 'null')
)
values = st.sampled_from(
    [None, True, 1, -1.5, '', 'a "b", (c)', [], ['x', {'y': [2]}], {'é': 1}]
).map(json_text)
kinds = st.recursive(
    st.builds(
        FieldType,
        names,
        st.lists(values, max_size=2).map(tuple),
        st.lists(st.tuples(names, values), max_size=2).map(tuple),
    ),
    lambda inner: st.builds(FieldType, names, st.tuples(inner)),
    max_leaves=4,
)
fields = st.builds(
    FieldSchema, names, kinds, st.booleans(), st.just('') | values
)
conversions = (
    st.builds(
        Conversion,
        st.sampled_from(['added', 'removed', 'changed']),
        names,
        ignore=st.booleans(),
    )
    | st.builds(
        Conversion, st.just('renamed'), names, names, ignore=st.booleans()
    )
    | st.just(BY_HAND)
)
versions = st.tuples(st.integers(1, 3), st.integers(0, 12)).map(
    lambda pair: f'{pair[0]}.{pair[1]}'
)


def sorted_fields(fields: list[FieldSchema]) -> tuple[FieldSchema, ...]:
    return tuple(sorted(fields, key=lambda field: field.name))


@st.composite
def locks(draw: st.DrawFn) -> Lock:
    releases = draw(st.lists(st.sampled_from('ABC'), unique=True))
    schemas = draw(
        st.lists(
            st.builds(
                TypeSchema,
                names,
                versions,
                kind=st.sampled_from(parse.TYPE_KINDS),
                fields=st.lists(
                    fields, max_size=3, unique_by=lambda field: field.name
                ).map(sorted_fields),
                conversions=st.lists(conversions, max_size=2, unique=True).map(
                    tuple
                ),
                microversion=st.just('') | versions,
                fingerprint=st.just('') | st.just('0a' * 16),
                namespace=st.tuples(names, names),
                release=st.sampled_from(['', *releases]),
                until=st.sampled_from(['', *releases]),
            ).filter(
                lambda schema: (
                    schema.kind == 'plain' or schema.version.startswith('1.')
                )
            ),
            max_size=3,
            unique_by=lambda schema: schema.key,
        )
    )
    accepted = st.builds(
        Acceptance,
        st.sampled_from(['FIELD_NO_ADD', 'TYPE_NO_REMOVE']),
        names,
        st.dates(),
        names,
    )
    acceptances = draw(
        st.lists(
            accepted,
            max_size=2,
            unique_by=lambda item: (item.subject, item.rule),
        )
    )
    return Lock(
        tuple(draw(st.lists(names, max_size=2, unique=True))),
        tuple(releases),
        sorted_schemas(schemas),
        tuple(sorted(acceptances, key=lambda item: (item.subject, item.rule))),
    )


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(lock=locks())
def test_parse_of_dump_returns_the_lock(lock: Lock) -> None:
    written = text.dump(lock)
    assert parse.parse(written) == lock
    assert text.dump(parse.parse(written)) == written
    assert not any(line != line.rstrip() for line in written.split('\n'))


def test_dump_of_long_enum_has_a_line_for_each_value() -> None:
    words = tuple(json_text(f'WORD_{number:02}') for number in range(12))
    field = FieldSchema('status', FieldType('Enum', words), nullable=True)
    lock = Lock(schemas=(TypeSchema('Thing', '1.0', fields=(field,)),))
    lines = text.dump(lock).splitlines()
    start = lines.index('  field status: Enum(')
    assert lines[start + 1] == '    "WORD_00",'
    assert lines[start + 12 : start + 14] == ['    "WORD_11",', '  ) | null']
    assert parse.parse('\n'.join(lines)) == lock


HEAD = f'{text.FORMAT}\nrelease 1\n'


@pytest.mark.parametrize(
    ('content', 'line', 'problem'),
    [
        ('', 1, 'a lock must begin with'),
        ('vobjects-lock 2\n', 1, 'a lock must begin with'),
        (
            f'{HEAD}types X 1.0\n',
            3,
            "unknown keyword 'types': write import, release",
        ),
        (f'{HEAD}release 1\n', 3, 'duplicate 1'),
        (f'{HEAD}import a b\n', 3, 'write MODULE'),
        (f'{HEAD}import os;x\n', 3, 'write MODULE'),
        (f'{HEAD}type X\n', 3, 'write "type NAME VERSION"'),
        (f'{HEAD}type X 1.x\n', 3, "'1.x' is not a version"),
        (f'{HEAD}type X 1.0\ntype X 1.0\n', 4, 'first in line 3'),
        (f'{HEAD}  kind request\n', 3, 'outside of a block'),
        (f'{HEAD}type X 1.0\n kind request\n', 4, 'indent by two spaces'),
        (f'{HEAD}type X 1.0\n  kind thing\n', 4, 'write request, resource'),
        (f'{HEAD}type X 1.0\n  kind object \n', 4, 'spaces at the end'),
        (f'{HEAD}type X 1.0\n  release 2\n', 3, 'add the line "release 2"'),
        (f'{HEAD}type X 1.0\n  colour red\n', 4, "unknown keyword 'colour'"),
        (f'{HEAD}type X 1.0\n  fingerprint 12\n', 4, '32 hexadecimal'),
        (f'{HEAD}type X 1.0\n  microversion 1.01\n', 4, 'MAJOR.MINOR'),
        (f'{HEAD}type X 1.0\n  conversion made a\n', 4, 'write "added FIELD'),
        (f'{HEAD}type X 1.0\n  field a String\n', 4, 'write "field NAME'),
        (f'{HEAD}type X 1.0\n  field a: 7\n', 4, 'name of a type'),
        (f'{HEAD}type X 1.0\n  field a: A(B\n', 4, "expected ', ' or ')'"),
        (f'{HEAD}type X 1.0\n  field a: A = x\n', 4, 'a JSON value'),
        (
            f'{HEAD}type X 1.0\n  field a: A | nul\n',
            4,
            'expected the end of the line',
        ),
        (
            f'{HEAD}type X 1.0\n  field a: A\n  field a: B\n',
            5,
            "duplicate field 'a'",
        ),
        (f'{HEAD}type X 1.0\n  field a: A(\n    "b"\n', 5, "end with ','"),
        (f'{HEAD}type X 1.0\n  field a: A(\n', 5, "end with ','"),
        (f'{HEAD}type X 1.0\n  field a: A(', 4, 'is not closed'),
        (
            f'{HEAD}type X 1.0\n  field a: {"A(" * 50}B\n',
            4,
            'more than 20 levels deep',
        ),
        (
            f'{HEAD}type X 1.0\n  field a: A = {"[" * 100_000}\n',
            4,
            'a JSON value',
        ),
        (f'{HEAD}accept X y until never: z\n', 3, 'is not a date'),
        (f'{HEAD}accept X y until 2027-01-01:\n', 3, 'write "accept RULE'),
        (f'{HEAD}<<<<<<< ours\n', 3, 'unresolved merge conflict'),
    ],
)
def test_parse_when_malformed_names_the_line(
    content: str, line: int, problem: str
) -> None:
    with pytest.raises(parse.ParseError) as caught:
        parse.parse(content, 'x.lock')
    assert str(caught.value).startswith(f'x.lock:{line}: ')
    assert problem in str(caught.value)


def test_load_when_file_is_unreadable_raises(
    tmp_path: pathlib.Path,
) -> None:
    path = tmp_path / 'x.lock'
    with pytest.raises(LockError, match='vobjects lock init'):
        parse.load(path)
    path.write_bytes(HEAD.encode() + b'\xff\n')
    with pytest.raises(LockError, match=':3: not UTF-8'):
        parse.load(path)
    with pytest.raises(LockError, match='Is a directory'):
        parse.load(tmp_path)


def test_lock_at_release_has_the_versions_of_the_release() -> None:
    lock = Lock(
        releases=('1', '2'),
        schemas=(
            TypeSchema('A', '1.0', release='1', until='2'),
            TypeSchema('B', '1.9', release='1'),
            TypeSchema('B', '1.10', release='2'),
            TypeSchema('C', '1.0'),
        ),
    )
    assert lock.at('1').manifest() == {'A': '1.0', 'B': '1.9'}
    assert lock.at('2').manifest() == {'B': '1.10'}
    with pytest.raises(LockError, match=r"no release '3' .* releases: 1, 2"):
        lock.at('3')


def test_version_key_orders_versions_as_numbers() -> None:
    assert sorted(['1.10', '1.9', '1.9.1', '2.0'], key=version_key) == [
        '1.9',
        '1.9.1',
        '1.10',
        '2.0',
    ]
    for malformed in ('1', '1.', '1.2.3.4', 'a.b', '1.²', '-1.0', ''):
        with pytest.raises(LockError):
            version_key(malformed)


def test_acceptance_equality_ignores_the_line() -> None:
    day = datetime.date(2027, 1, 1)
    assert Acceptance('A', 'b', day, 'c', 1) == Acceptance(
        'A', 'b', day, 'c', 2
    )


MAJOR = """\
vobjects-lock 1
release 1

type Order 2.0
  kind KIND
  release 1
"""


@pytest.mark.parametrize('kind', ['request', 'resource', 'object'])
def test_parse_when_a_declared_type_has_another_major_version_fails(
    kind: str,
) -> None:
    content = MAJOR.replace('KIND', kind)
    with pytest.raises(
        parse.ParseError,
        match=rf"x\.lock:4: Order 2\.0: a type of kind '{kind}' .* Order2",
    ):
        parse.parse(content, 'x.lock')
    # A plain class may have it, and a release may have ended the type.
    assert parse.parse(MAJOR.replace('KIND', 'plain'), 'x.lock').schemas
    assert parse.parse(f'{content}  until 1\n', 'x.lock').schemas
