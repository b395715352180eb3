# SPDX-License-Identifier: Apache-2.0
"""Measure the CPU time of operations, whatever the load of the machine."""

from __future__ import annotations

import random
import time
import timeit
from collections.abc import Callable
from typing import Any

from tests.adoption.random_objects import instance
from vobjects.lock import registries

TIMER = time.process_time


def times() -> dict[str, dict[str, float]]:
    """Return microseconds of each operation on each type."""
    classes = registries.registered()
    microseconds: dict[str, dict[str, float]] = {}
    for name in sorted(classes):
        obj = instance(name, random.Random(name), depth=2)
        try:
            primitive = obj.obj_to_primitive()
            type(obj).obj_from_primitive(primitive)
        except Exception:  # noqa: BLE001 - nothing to time
            continue
        calls: dict[str, Callable[[], Any]] = {
            'to_primitive': obj.obj_to_primitive,
            'from_primitive': lambda obj=obj, primitive=primitive: type(
                obj
            ).obj_from_primitive(primitive),
            'clone': obj.obj_clone,
            'what_changed': obj.obj_what_changed,
        }
        microseconds[name] = {
            operation: min(
                timeit.repeat(call, number=10, repeat=9, timer=TIMER)
            )
            / 10
            * 1e6
            for operation, call in calls.items()
        }
    return microseconds
