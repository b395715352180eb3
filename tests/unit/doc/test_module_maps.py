# SPDX-License-Identifier: Apache-2.0
"""The lists of modules in the reference of the library."""

from __future__ import annotations

from tests.unit.doc import extensions

module_maps = extensions.load('module_maps')


def convert(docstring: str, *documented: str) -> list[str]:
    """Return the lines of the docstring of a package ``shop``."""
    lines = docstring.splitlines()
    return list(module_maps.convert('shop', lines, set(documented)))


def test_columns_become_a_definition_list_with_links() -> None:
    docstring = """\
In order::

    orders     orders, and
               their items
    stock.py   what is left

More."""
    assert convert(docstring, 'shop.orders') == [
        'In order:',
        '',
        ':mod:`orders <shop.orders>`',
        '    orders, and their items',
        '',
        '``stock``',
        '    what is left',
        '',
        'More.',
    ]


def test_lines_below_a_module_are_its_interface() -> None:
    docstring = """\
::

    orders     orders
        place(item)      raises if
                         there is none
        cancel()"""
    assert convert(docstring)[1:] == [
        '``orders``',
        '    orders',
        '',
        '    .. code-block:: text',
        '        :class: interface',
        '',
        '        place(item)  raises if there is none',
        '        cancel()',
        '',
    ]


def test_other_blocks_stay() -> None:
    docstring = """\
Example::

    from shop import orders
    orders.place('tea')"""
    assert convert(docstring) == docstring.splitlines()


def test_signature_when_a_default_is_a_function_then_names_it() -> None:
    def shown(signature: str) -> str:
        return str(
            module_maps.process_signature(
                None, 'class', 'shop.Order', object, {}, signature, None
            )[0]
        )

    assert shown('(a=<function shop.f>)') == '(a=f)'
    assert shown("(a=<class 'dict'>)") == '(a=dict)'
    assert shown('(a=<function Order.<lambda>>)') == '(a=...)'
    assert shown('(a=<factory>)') == '(a=...)'
