# SPDX-License-Identifier: Apache-2.0
"""Manifests: content, digest, minimum, files."""

from __future__ import annotations

import copy
import pathlib
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vobjects import exceptions
from vobjects.objects import manifest
from vobjects.objects.manifest import Manifest
from vobjects.versions import Version

contents = st.dictionaries(
    st.sampled_from(['Alpha', 'Beta', 'Gamma', 'Delta']),
    st.builds('1.{}'.format, st.integers(0, 20)),
)


@given(contents)
def test_digest_does_not_depend_on_order(
    content: dict[str, str],
) -> None:
    backwards = dict(reversed(content.items()))
    assert Manifest(content) == Manifest(backwards)
    assert Manifest(content).digest == Manifest(backwards).digest
    assert Manifest({**content, 'More': '1.0'}) != Manifest(content)


def test_equal_manifests_are_one_object() -> None:
    first = Manifest({'A': '1.0', 'B': '1.2'})
    for again in (
        Manifest({'B': '1.2', 'A': '1.0'}),
        Manifest(first),
        copy.copy(first),
        copy.deepcopy(first),
        pickle.loads(pickle.dumps(first)),
    ):
        assert again is first
    assert {first: 1}[Manifest(dict(first))] == 1


@pytest.mark.parametrize(
    'change',
    [
        lambda m: m.__setitem__('A', '1.1'),
        lambda m: m.__delitem__('A'),
        lambda m: m.__ior__({'A': '1.1'}),
        lambda m: m.clear(),
        lambda m: m.pop('A'),
        lambda m: m.popitem(),
        lambda m: m.setdefault('B', '1.0'),
        lambda m: m.update(A='1.1'),
    ],
)
def test_manifest_cannot_be_changed(change: Callable[[Any], Any]) -> None:
    unchanged = Manifest({'A': '1.0'})
    with pytest.raises(TypeError, match='cannot be changed'):
        change(unchanged)
    assert dict(unchanged) == {'A': '1.0'}


@given(st.lists(contents, min_size=1, max_size=4))
def test_minimum_is_supported_by_all_manifests(
    manifests: list[dict[str, str]],
) -> None:
    lowest = manifest.minimum(manifests)
    assert set(lowest) == set.intersection(*map(set, manifests))
    for name in lowest:
        assert lowest.version(name) == min(
            Version.parse(content[name]) for content in manifests
        )


def test_minimum_compares_numbers_and_may_be_empty() -> None:
    lowest = manifest.minimum([{'A': '1.9'}, {'A': '1.10'}])
    assert dict(lowest) == {'A': '1.9'}
    assert not manifest.minimum([])


@pytest.mark.parametrize(
    'others', [[], [{'A': '1.9', 'B': '1.0'}], [{'A': '2.1', 'B': '1.0'}]]
)
def test_minimum_lacks_types_of_another_major_version(
    others: list[dict[str, str]],
) -> None:
    lowest = manifest.minimum([{'A': '2.0', 'B': '1.3'}, *others])
    assert set(lowest) == {'B'}


def test_load_is_inverse_of_dump(tmp_path: pathlib.Path) -> None:
    path = tmp_path / 'old.json'
    first = Manifest({'A': '1.3', 'B': '1.10'})
    first.dump(path)
    assert Manifest.load(path) == first
    assert path.read_text().count('\n') == 4


@pytest.mark.parametrize(
    'text',
    [
        '',
        '[]',
        '{"A": 1}',
        '{"A": "1.01"}',
        '"A"',
        '{"A": null}',
        '{"A": "2.0"}',
    ],
)
def test_load_when_invalid_names_the_file(
    tmp_path: pathlib.Path, text: str
) -> None:
    path = tmp_path / 'broken.json'
    path.write_text(text)
    with pytest.raises(exceptions.VobjectsError, match=r'broken\.json'):
        Manifest.load(path)


def test_load_when_a_major_version_differs_names_the_type(
    tmp_path: pathlib.Path,
) -> None:
    path = tmp_path / 'new.json'
    path.write_text('{"A": "1.0", "B": "2.0"}')
    with pytest.raises(
        exceptions.VobjectsError,
        match=r"new\.json: 'B': '2\.0' is another major version,.* 1\.x;",
    ):
        Manifest.load(path)
