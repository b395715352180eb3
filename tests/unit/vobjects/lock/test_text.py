# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import keyword
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
    lambda name: (
        name not in ('true', 'false', 'null') and not keyword.iskeyword(name)
    )
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
    start = lines.index("fields.status = '''Enum(")
    assert lines[start + 1] == '  "WORD_00",'
    assert lines[start + 12 : start + 14] == ['  "WORD_11",', ") | null'''"]
    assert parse.parse('\n'.join(lines)) == lock


HEAD = 'format = 1\nreleases = ["1"]\n'
TYPE = f'{HEAD}[type.X."1.0"]\n'


@pytest.mark.parametrize(
    ('content', 'problem'),
    [
        ('', "$: 'format' is a required property"),
        ('format = 2\n', '$.format: 1 was expected'),
        (f'{HEAD}types = 1\n', "'types' was unexpected"),
        (f'{HEAD}imports = "os"\n', "$.imports: 'os' is not of type 'array'"),
        (f'{HEAD}imports = ["a", "a"]\n', 'non-unique elements'),
        (f'{HEAD}imports = ["a b"]\n', "$.imports[0]: 'a b': write MODULE"),
        (f'{HEAD}imports = ["os;x"]\n', "'os;x': write MODULE"),
        (f'{HEAD}type.X = 1\n', "$.type.X: 1 is not of type 'object'"),
        (f'{HEAD}[type.X."1.x"]\n', "'1.x' is not a version"),
        (f'{HEAD}[type."X y"."1.0"]\n', 'write the name of a type'),
        (f'{TYPE}[type.X."1.0"]\n', '(at line 4'),
        (f'{TYPE}kind = "thing"\n', "'thing' is not one of"),
        (f'{TYPE}release = "2"\n', 'X 1.0: add "2" to the list "releases"'),
        (f'{TYPE}colour = "red"\n', "'colour' was unexpected"),
        (f'{TYPE}fingerprint = "12"\n', '32 hexadecimal'),
        (f'{TYPE}microversion = "1.01"\n', 'MAJOR.MINOR'),
        (f'{TYPE}conversions = ["made a"]\n', 'write "added FIELD'),
        (f'{TYPE}fields."a b" = "A"\n', 'write the name of a field'),
        (f'{TYPE}fields.a = 7\n', "7 is not of type 'string'"),
        *(
            (f"{TYPE}fields.a = '{field}'\n", 'X 1.0: field a: ')
            for field in (
                '7',
                'A(B',
                'A = x',
                'A = 1 + 1',
                'A | nul',
                'A\tB',
                'A(**{"a": 1})',
                '"A("' * 50,
                f'A = {"[" * 100_000}',
            )
        ),
        (f'{TYPE}fields.a = "A"\nfields.a = "B"\n', '(at line 5'),
        (f'{HEAD}accept = ["X y until never: z"]\n', 'is not a date'),
        (f'{HEAD}accept = ["X y until 2027-01-01:"]\n', 'write "RULE'),
        (f'{HEAD}<<<<<<< ours\n', 'unresolved merge conflict'),
    ],
)
def test_parse_when_malformed_names_the_place(
    content: str, problem: str
) -> None:
    with pytest.raises(LockError) as caught:
        parse.parse(content, 'x.lock')
    assert str(caught.value).startswith('x.lock: ')
    assert problem in str(caught.value)


def test_load_when_file_is_unreadable_raises(
    tmp_path: pathlib.Path,
) -> None:
    path = tmp_path / 'x.lock'
    with pytest.raises(LockError, match='vobjects lock init'):
        parse.load(path)
    path.write_bytes(HEAD.encode() + b'\xff\n')
    with pytest.raises(LockError, match=r'not UTF-8 \(at line 3\)'):
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


MAJOR = """\
format = 1
releases = ["1"]

[type.Order."2.0"]
kind = "KIND"
release = "1"
"""


@pytest.mark.parametrize('kind', ['request', 'resource', 'object'])
def test_parse_when_a_declared_type_has_another_major_version_fails(
    kind: str,
) -> None:
    content = MAJOR.replace('KIND', kind)
    with pytest.raises(
        LockError,
        match=rf"x\.lock: Order 2\.0: a type of kind '{kind}' .* Order2",
    ):
        parse.parse(content, 'x.lock')
    # A plain class may have it, and a release may have ended the type.
    assert parse.parse(MAJOR.replace('KIND', 'plain'), 'x.lock').schemas
    assert parse.parse(f'{content}until = "1"\n', 'x.lock').schemas
