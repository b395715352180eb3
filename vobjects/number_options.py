# SPDX-License-Identifier: Apache-2.0
"""Options of oslo.config that are numbers: :func:`restrict`.

The types of oslo.config read an empty value as None and accept NaN, which no
comparison with a limit rejects. Both, like a time that the functions of the
operating system do not accept, would fail long after the start.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from typing import Any

from oslo_config import cfg, types

#: Longest time in seconds, 20 days: locks and poll(2) accept no more.
LONGEST = 20 * 86400.0

#: Largest integer that all databases accept in an integer column.
LARGEST = 2**31 - 1


class _Float(types.Float):
    def __call__(self, value: Any) -> float:
        number = super().__call__(value)
        if number is None or math.isnan(number):
            raise ValueError('Should be a number')
        return number


class _Integer(types.Integer):
    def __call__(self, value: Any) -> int:
        number = super().__call__(value)
        if number is None:
            raise ValueError('Should be a whole number')
        return int(number)


def restrict(*lists: Iterable[cfg.Opt]) -> None:
    """Let options reject empty values, NaN, infinity and huge numbers.

    This changes the options that have a number as their default.

    :param lists: options. A number without a maximum may be up to
        :data:`LONGEST`, or :data:`LARGEST` if it is whole
    """
    for option in itertools.chain(*lists):
        kind: Any = option.type
        if option.default is None:
            continue
        if isinstance(option.type, types.Float):
            option.type = _Float(
                kind.min, _or(kind.max, LONGEST), kind.type_name
            )
        elif isinstance(option.type, types.Integer):
            option.type = _Integer(
                kind.min, _or(kind.max, LARGEST), kind.type_name, kind.choices
            )


def _or(maximum: float | None, default: float) -> Any:
    return default if maximum is None else maximum
