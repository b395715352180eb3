# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from engine import patterns
from tests import memory_limit

#: Each expression makes a backtracking engine allocate gigabytes or run for
#: minutes.
BOMBS = [
    '(?:a{999}){9999}',
    '(?:(?:a{999}){999}){9}',
    '(?:a+){9999999}',
    '(?:a{999}){999}',
    '(?<x>(?&x)?(?&x)?a)',
    '(a+)+$b',
    '(a|aa)+$b',
    '(?:.*a){500}.{500}b',
    '(' * 499 + 'a' + '+)' * 499,
]


@pytest.mark.parametrize(
    ('pattern', 'text'),
    [
        ('status: (ok|fine)', '{"status: fine"}'),
        ('(?i)READY', 'ready'),
        (r'^\d+$', '42'),
        ('', 'anything'),
        ('x{1000}', 'x' * 1000),
        ('é', 'caf\u00e9'),
    ],
)
def test_matches_when_the_pattern_occurs_is_true(
    pattern: str, text: str
) -> None:
    assert patterns.matches(pattern, text)
    assert not patterns.matches(pattern + 'z', text)


@pytest.mark.parametrize(
    'pattern',
    ['(?=a)', '(?<!a)b', r'(a)\1', '(?>a)', '(', 'a{1001}', '\ud800'],
)
def test_check_when_not_supported_names_the_syntax(pattern: str) -> None:
    with pytest.raises(patterns.PatternError, match='syntax of RE2'):
        patterns.check(pattern)


@pytest.mark.parametrize(
    'pattern',
    ['(?:[ab]?){500}(?:[ac]?){500}$b', '(?:.*a){500}.{500}b', '.{1000}y'],
)
def test_check_when_a_search_would_be_slow_rejects(pattern: str) -> None:
    with pytest.raises(patterns.PatternError, match='too large'):
        patterns.check(pattern)


def test_check_when_too_long_names_the_limit() -> None:
    with pytest.raises(patterns.PatternError, match='at most 1000'):
        patterns.check('x' * 1001)


def test_bombs_are_rejected_or_matched_in_little_memory() -> None:
    memory_limit.run(
        f"""
from engine import patterns
for pattern in {BOMBS!r}:
    try:
        patterns.matches(pattern, 'a' * 65536)
    except patterns.PatternError:
        pass
""",
        memory=64 * 2**20,
    )


def test_compiled_patterns_are_not_cached() -> None:
    memory_limit.run(
        """
import psutil
from engine import patterns

def compile_many(first, last):
    for number in range(first, last):
        patterns.check('x{90}' * 9 + str(number))
    return psutil.Process().memory_info().rss

few = compile_many(500, 503)
assert compile_many(503, 800) - few < 4 * 2**20
""",
        memory=64 * 2**20,
    )
