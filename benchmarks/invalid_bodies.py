# SPDX-License-Identifier: Apache-2.0
"""Measure what invalid request bodies of the maximum size cost.

For each shape, a valid and an invalid body are parsed and validated. The
columns are the milliseconds of processor time per kilobyte in the slowest
round, and how many times longer the rejection takes: at most 10 times.
Otherwise, the exit code is 1.

    python benchmarks/invalid_bodies.py
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import vobjects.objects  # isort: skip  # must be imported first
import vobjects
from vobjects import fields
from vobjects.microversions import errors, json_body, validation
from vobjects.versions import Version

ROUNDS = 3
SIZE = json_body.MAX_BYTES
VERSION = Version(1, 0)

#: The documented bound of an explanation.
MAX_RATIO = 10


@vobjects.register
class InvalidBodiesPart(vobjects.Object):
    """An object inside of the request."""

    fields = {'name': fields.NameField(), 'size': fields.IntegerField()}


@vobjects.register
class InvalidBodiesRequest(vobjects.Request):
    """A request with fields of all shapes."""

    fields = {
        'name': fields.NameField(default='n'),
        'nodes': fields.IdentityListField(default=[]),
        'text': fields.StringField(default=''),
        'texts': fields.ListOfStringsField(default=[]),
        'numbers': fields.ListOfIntegersField(default=[]),
        'labels': fields.DictOfStringsField(default={}),
        'lists': fields.Field(
            fields.Dict(fields.List(fields.String())), default={}
        ),
        'parts': fields.ListOfObjectsField('InvalidBodiesPart', default=[]),
        'metadata': fields.JsonField(default={}),
    }


NAMES = tuple(InvalidBodiesRequest.fields)


class Shape(NamedTuple):
    """A valid body, and an invalid one of the maximum size.

    :ivar valid: with values of about the same length
    """

    valid: Any
    invalid: Any


def shapes() -> Iterator[tuple[str, Shape]]:
    """Yield the name and the bodies of each shape."""
    ids = [f'node-{number:06}-{"x" * 90}' for number in range(SIZE // 106)]
    short = [str(number) for number in range(10_000)]
    filled = {f'k{number}': 'x' * 90 for number in range(SIZE // 106)}
    valid_list = {'nodes': ids[:9_000]}
    # A valid body has at most 32,768 values.
    same = ['n'] * (SIZE // 4 - 9)
    yield (
        'same item',
        Shape({'metadata': {'a': same[:30_000]}}, {'nodes': same}),
    )
    yield 'last item again', Shape(valid_list, {'nodes': [*ids, ids[0]]})
    mixed = [1, '1', [1], {}] * (SIZE // 16 - 9)
    yield (
        'items of other types',
        Shape({'metadata': {'a': mixed[:20_000]}}, {'nodes': mixed}),
    )
    equal = [{'a': 1}] * (SIZE // 8 - 9)
    yield (
        'equal objects',
        Shape({'metadata': {'a': equal[:15_000]}}, {'nodes': equal}),
    )
    yield (
        'last text is a number',
        Shape({'texts': short}, {'texts': [*ids, 1]}),
    )
    yield (
        'texts for numbers',
        Shape({'numbers': [10**8] * 10_000}, {'numbers': ids}),
    )
    yield (
        'last value is a number',
        Shape({'labels': filled}, {'labels': {**filled, 'last': 1}}),
    )
    yield (
        'many lists',
        Shape(
            {'lists': {name: ['x' * 80] for name in filled}},
            {'lists': {name: [1, 2] for name in filled}},
        ),
    )
    yield (
        'last object lacks a field',
        Shape(
            {'parts': [{'name': 'n' * 60, 'size': 1}] * 9_000},
            {'parts': [{'name': 'n' * 60, 'size': 1}] * 9_000 + [{}]},
        ),
    )
    yield (
        'unknown fields',
        Shape({'metadata': filled}, dict.fromkeys(filled, 'x' * 90)),
    )
    yield (
        'text for an object',
        Shape({'metadata': filled}, {'metadata': 'x' * (SIZE - 99)}),
    )
    yield (
        'long text',
        Shape({'text': 'x' * 65_535}, {'text': 'x' * (SIZE - 99)}),
    )
    yield (
        'long name',
        Shape({'text': 'x' * 65_535}, {'name': 'x ' * (SIZE // 2 - 99)}),
    )


def cost(body: bytes, *, is_valid: bool) -> float:
    """Return the milliseconds of processor time per kilobyte."""
    gc.collect()
    start = time.process_time()
    try:
        validation.validate(
            InvalidBodiesRequest,
            VERSION,
            NAMES,
            json_body.load_json(body),
            'body',
        )
        accepted = True
    except errors.InputError as error:
        accepted = False
        reason = str(error)
    seconds = time.process_time() - start
    if accepted != is_valid:
        raise AssertionError(reason if is_valid else 'an invalid body passed')
    return seconds * 1000 / (len(body) / 1000)


def main() -> int:
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    ).parse_args()
    bound_kept = True
    print(f'{"shape":26} {"kB":>6} {"accept":>8} {"explain":>8} {"ratio":>6}')
    for name, shape in shapes():
        valid, invalid = (
            json.dumps(value, separators=(',', ':')).encode()
            for value in shape
        )
        cost(valid, is_valid=True)  # compiles the schema
        accept = max(cost(valid, is_valid=True) for _ in range(ROUNDS))
        explain = max(cost(invalid, is_valid=False) for _ in range(ROUNDS))
        ratio = explain / accept
        bound_kept &= ratio <= MAX_RATIO
        print(
            f'{name:26} {len(invalid) / 1000:6.0f} {accept:8.4f}'
            f' {explain:8.4f} {ratio:6.1f}'
        )
    return 0 if bound_kept else 1


if __name__ == '__main__':
    sys.exit(main())
