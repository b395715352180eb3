# SPDX-License-Identifier: Apache-2.0
"""Field types that replace those of oslo.versionedobjects."""

from __future__ import annotations

from typing import Any

import pytest

import vobjects
from vobjects import fields
from vobjects.rpc import serializer


class Light(fields.StateMachine):
    """It has a final word, and one without transitions."""

    ALLOWED_TRANSITIONS = {'red': {'green'}, 'green': {'red', 'off'}}

    def __init__(self, **options: Any) -> None:
        super().__init__(('red', 'green', 'off'), **options)


@pytest.fixture
def lamp(registry: None) -> Any:
    @vobjects.register
    class Lamp(vobjects.Resource):
        fields = {'light': Light(nullable=True)}

    return Lamp


@pytest.mark.parametrize('words', [['red', 'green', 'off'], [None, 'off']])
def test_state_machine_permits_its_transitions(lamp: Any, words: Any) -> None:
    obj = lamp()
    for word in words:
        obj.light = word
        assert obj.light == word
        read = serializer.from_bytes(serializer.to_bytes(obj, None))
        assert read.light == obj.obj_clone().light == word


@pytest.mark.parametrize(
    ('word', 'other'),
    [
        ('red', 'off'),
        ('red', 'red'),
        ('red', None),
        ('off', 'red'),
        ('green', 'blue'),
    ],
)
def test_state_machine_refuses_other_transitions(
    lamp: Any, word: str, other: str | None
) -> None:
    obj = lamp(light=word)
    with pytest.raises(ValueError, match=str(other)):
        obj.light = other
    assert obj.light == word
