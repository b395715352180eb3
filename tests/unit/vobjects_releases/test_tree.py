# SPDX-License-Identifier: Apache-2.0
"""Reading source trees."""

from __future__ import annotations

import pathlib

import pytest

from vobjects_releases import tree

from .conftest import write


def test_tree_leaves_out_tests_and_unreadable_files(
    tmp_path: pathlib.Path,
) -> None:
    write(
        tmp_path,
        {
            'a.py': 'x = 1',
            'broken.py': 'print "1"',
            'tests/b.py': '',
            'test_c.py': '',
        },
    )

    assert tree.Tree(tmp_path).modules.keys() == {'shop', 'shop.a'}


@pytest.mark.parametrize('path', ['missing', 'empty'])
def test_tree_without_code_raises(tmp_path: pathlib.Path, path: str) -> None:
    (tmp_path / 'empty').mkdir()

    with pytest.raises(tree.TreeError, match=path):
        tree.Tree(tmp_path / path)


def test_tree_of_a_package_has_its_name(tmp_path: pathlib.Path) -> None:
    write(tmp_path, {'a.py': ''})

    assert tree.Tree(tmp_path / 'shop').modules.keys() == {'shop', 'shop.a'}


def test_tree_of_a_package_without_init_has_the_imported_name(
    tmp_path: pathlib.Path,
) -> None:
    for name, source in {
        'src/shop/orders.py': 'import shop.base',
        'src/shop/base/__init__.py': '',
        'tools/report.py': '',
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)

    assert tree.Tree(tmp_path).modules.keys() == {
        *('shop.orders', 'shop.base', 'report')
    }


def test_bases_follow_imports_exports_and_cycles(
    tmp_path: pathlib.Path,
) -> None:
    write(
        tmp_path,
        {
            '__init__.py': 'from .a import A',
            'a.py': 'class A:\n    def run(self): pass',
            'b.py': 'import shop\nclass B(shop.A, other.C): pass',
            'c.py': 'class D(E): pass\nclass E(D): pass',
        },
    )
    code = tree.Tree(tmp_path)
    b = code.classes['shop.b.B']

    assert [each.name for each in code.bases(b)] == ['B', 'A']
    assert list(code.external_bases(b)) == ['shop.b.other.C']
    assert code.methods(b).keys() == {'run'}
    assert len(code.bases(code.classes['shop.c.D'])) == 2


@pytest.mark.parametrize(
    ('base', 'names', 'external'),
    [
        ('Inner', ['Inner'], ['other.make']),
        ('make(1)', ['Inner'], ['other.make']),
        ('MADE', ['Inner'], ['other.make']),
        ('again()', ['Inner'], ['other.make']),
        ('other.make(1)', [], ['other.make']),
        ('OTHER', [], ['other.make']),
        ('OTHER[int]', [], ['other.make']),
        ('endless()', [], []),
        ('nothing()', [], []),
        ('values[0]()', [], []),
    ],
)
def test_bases_follow_functions_and_names_that_hold_classes(
    tmp_path: pathlib.Path, base: str, names: list[str], external: list[str]
) -> None:
    source = f"""
        import other
        OTHER = other.make(2)
        def make(config):
            class Inner(other.make(config)):
                pass
            return Inner
        def again():
            return make(3)
        def endless():
            return endless()
        def nothing():
            pass
        MADE = make(4)
        class Outer({base}):
            pass
        """
    write(tmp_path, {'a.py': source})
    code = tree.Tree(tmp_path)
    outer = code.classes['shop.a.Outer']

    assert [each.name for each in code.bases(outer)][1:] == names
    assert list(code.external_bases(outer)) == external


@pytest.mark.parametrize(
    ('expression', 'value'),
    [
        ("'1.0'", '1.0'),
        ('LOCAL', '1.1'),
        ('a.VERSION', '1.2'),
        ('self.OWN', '1.3'),
        ('self.INHERITED', '1.4'),
        ('self.missing', None),
        ('f()', None),
    ],
)
def test_class_constant_returns_value(
    tmp_path: pathlib.Path, expression: str, value: str | None
) -> None:
    write(
        tmp_path,
        {
            'a.py': "VERSION = '1.2'\nclass A:\n    INHERITED = '1.4'",
            'b.py': 'from shop import a\n'
            "LOCAL = '1.1'\n"
            "class B(a.A):\n    OWN = '1.3'\n"
            f'    tested = {expression}',
        },
    )
    code = tree.Tree(tmp_path)
    cls = code.classes['shop.b.B']

    assert code.class_constant(cls, cls.assigned('tested')) == value
