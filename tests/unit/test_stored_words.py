# SPDX-License-Identifier: Apache-2.0
"""Words that the database stores, or that cross a process, stay the same.

Processes of two releases share them during a rolling upgrade. The schema lock
records types and fields; ``stored_words.json`` records the other words.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import pathlib
import types
import typing
from typing import Any

import pytest

from engine.actions import action_types
from engine.db import models
from oslo_messaging_pyamqp import topology
from vobjects.clustering import consts, topics
from vobjects.rpc import client, fleet, wakeups
from vobjects_simulated import tables  # noqa: F401 - adds its tables

GOLDEN = pathlib.Path(__file__).with_name('stored_words.json')

ADVICE = (
    'Processes of older releases read and write these words. Restore a word'
    ' that is missing: to rename it, accept both words, and write the new one'
    ' only in the release after. Add a new word to {} with {}; older processes'
    ' must never receive it before all are upgraded.'
)


def current() -> dict[str, Any]:
    """Return the words of this build, by kind."""
    return {
        'action stages': {
            name: sorted({'start', *action.stages, *action.steps})
            for name, action in action_types.ACTION_TYPES.items()
        },
        'constants': {
            name: sorted(value)
            for name, value in vars(consts).items()
            if name.isupper()
            and isinstance(value, tuple)
            and all(isinstance(word, str) for word in value)
        },
        'message bus': {
            'names': sorted(
                (topics.EXCHANGE, topics.ENGINE, topics.API, client.METHOD)
            ),
            'wakeups': sorted((wakeups.FLEET, wakeups.WORK)),
            'states of processes': sorted(typing.get_args(fleet.State)),
            'queues': queue_names(),
        },
        'types': {
            group: sorted(
                point.name
                for point in importlib.metadata.entry_points(
                    group=f'vobjects.{group}'
                )
            )
            for group in ('policies', 'profiles')
        },
        'tables': {
            table.name: sorted(column.name for column in table.columns)
            for table in models.Base.metadata.sorted_tables
        },
    }


def queue_names() -> list[str]:
    """Return the names of the queues and exchanges of topic T, server S."""
    settings: Any = types.SimpleNamespace(
        durable=True,
        auto_delete=False,
        transient_durable=True,
        topic_arguments={},
        directed_arguments={},
        transient_arguments={},
    )
    queues = (
        topology.topic_queue(settings, 'E', 'T'),
        topology.directed_queue(settings, 'E', 'T', 'S'),
    )
    fanout = topology.fanout_queue(settings, 'T')
    return [
        *(f'{q.exchange.name} {q.routing_key} {q.name}' for q in queues),
        f'{fanout.exchange.name} {fanout.routing_key}',
        fanout.name.rstrip('0123456789abcdef'),
        topology.reply_queue(settings).name.rstrip('0123456789abcdef'),
    ]


def flat(words: Any, path: str = '') -> set[str]:
    """Return each word with the path to it."""
    if isinstance(words, dict):
        return {
            item
            for name, value in words.items()
            for item in flat(value, f'{path}/{name}')
        }
    return {f'{path}: {word}' for word in words}


def check(recorded: dict[str, Any], words: dict[str, Any]) -> None:
    """Compare the words of this build with the recorded ones.

    :raises AssertionError: names the missing and the new words
    """
    before, now = flat(recorded), flat(words)
    advice = ADVICE.format(GOLDEN.name, 'VOBJECTS_UPDATE=1 pytest')
    assert before == now, (
        f'missing: {sorted(before - now)}; new: {sorted(now - before)}.'
        f' {advice}'
    )


def test_words_are_those_of_the_golden_file() -> None:
    words = current()
    if os.environ.get('VOBJECTS_UPDATE'):
        GOLDEN.write_text(json.dumps(words, indent=1, sort_keys=True) + '\n')
    check(json.loads(GOLDEN.read_text()), words)


def test_renamed_stage_is_reported_with_advice() -> None:
    words = current()
    stages = words['action stages']['CLUSTER_CREATE']
    stages[stages.index('created')] = 'finished'
    with pytest.raises(AssertionError, match='Restore a word') as raised:
        check(current(), words)
    text = str(raised.value)
    assert "missing: ['/action stages/CLUSTER_CREATE: created']" in text
    assert "new: ['/action stages/CLUSTER_CREATE: finished']" in text
