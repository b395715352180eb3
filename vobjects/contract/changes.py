# SPDX-License-Identifier: Apache-2.0
"""Compare the contract of two microversions.

A change is *breaking* if a client that worked before may fail after it: the
API may reject its requests, or a response may lack a value or contain one that
the client does not expect. All other changes are *additive*. A new property of
a response is additive, because clients must ignore unknown properties. A new
value of an enumeration in a response is breaking, because clients branch on
values.

=====================  ==================  ==================
change                 in a request        in a response
=====================  ==================  ==================
operation, status      added: additive; removed: breaking
                       (removed status of an error: additive)
property               added: additive,    added: additive,
                       if required:        removed: breaking
                       breaking;
                       removed: breaking
becomes required       breaking            additive
becomes optional       additive            breaking
accepts more values    additive            breaking
accepts fewer values   breaking            additive
=====================  ==================  ==================
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from vobjects.contract import schema_tree
from vobjects.contract.registry import Contract, OperationShape
from vobjects.contract.schema_tree import Schema
from vobjects.contract.type_schemas import types_of
from vobjects.versions import Version

#: Keyword -> whether a larger value makes the schema stricter.
_BOUNDS: Mapping[str, bool] = {
    'minimum': True,
    'exclusiveMinimum': True,
    'minLength': True,
    'minItems': True,
    'minProperties': True,
    'maximum': False,
    'exclusiveMaximum': False,
    'maxLength': False,
    'maxItems': False,
    'maxProperties': False,
}

#: Annotations: keywords that do not restrict the value.
_NOTES = frozenset(
    (
        '$comment',
        'default',
        'deprecated',
        'description',
        'example',
        'examples',
        'readOnly',
        'title',
        'writeOnly',
    )
)

#: Keywords with one subschema. The whole schema accepts more if it does.
_INSIDE = (
    'items',
    'contains',
    'unevaluatedItems',
    'additionalProperties',
    'unevaluatedProperties',
    'propertyNames',
)

#: Keywords whose values are compared by meaning. If any other keyword changes
#: its value, the change counts as breaking, because it may restrict the
#: schema.
_COMPARED = frozenset(
    (
        'enum',
        'patternProperties',
        'prefixItems',
        'properties',
        'required',
        'type',
        *_BOUNDS,
        *_INSIDE,
        *schema_tree.BRANCHES,
    )
)


@dataclasses.dataclass(frozen=True, slots=True)
class ContractChange:
    """One difference between two microversions.

    :ivar operation: name of the operation
    :ivar place: path within the shape, such as ``body.cluster.config``,
        ``query.limit`` or ``response 200.clusters[].config``; empty: the
        operation itself
    :ivar what: predicate of the sentence, such as ``is added``
    :ivar breaking: whether clients may fail; see the module's docstring
    """

    operation: str
    place: str
    what: str
    breaking: bool

    @property
    def subject(self) -> str:
        """The last name in the place; empty for an operation."""
        return schema_tree.drop_unnamed_steps(self.place).rpartition('.')[2]

    def __str__(self) -> str:
        place = f': {self.place}' if self.place else ''
        return f'{self.operation}{place} {self.what}'


@dataclasses.dataclass(frozen=True, slots=True)
class ReturnedPart:
    """A part that was removed and came back.

    :ivar gone: first version that lacks it
    :ivar back: first version that has it again
    """

    operation: str
    place: str
    gone: Version
    back: Version

    def __str__(self) -> str:
        place = f': {self.place}' if self.place else ''
        return (
            f'{self.operation}{place} disappeared at {self.gone} and returned'
            f' at {self.back}'
        )


def compare(
    contract: Contract, old: Version, new: Version
) -> list[ContractChange]:
    """Return the changes from ``old`` to ``new``, in the contract's order.

    :raises vobjects.exceptions.VobjectsError: a microversion does not exist
    """
    before, after = contract.at(old), contract.at(new)
    found: list[ContractChange] = []
    for one in contract.operations:
        name = one.name
        if name not in before and name in after:
            found.append(ContractChange(name, '', 'is added', breaking=False))
        elif name in before and name not in after:
            found.append(ContractChange(name, '', 'is removed', breaking=True))
        elif name in before:
            found += [
                ContractChange(name, place, what, breaking)
                for place, what, breaking in _shapes(before[name], after[name])
            ]
    return found


def returned_parts(contract: Contract) -> list[ReturnedPart]:
    """Return the parts that were removed and came back in a later version."""
    found: list[ReturnedPart] = []
    for one in contract.operations:
        there: dict[str, Version] = {}  # place -> last version that had it
        gone: dict[str, Version] = {}  # place -> first version that lacked it
        for version in contract.versions:
            shape = contract.at(version).get(one.name)
            places = set() if shape is None else {'', *_places(shape)}
            for place in sorted(places & gone.keys()):
                found.append(
                    ReturnedPart(one.name, place, gone.pop(place), version)
                )
            for place in there.keys() - places - gone.keys():
                # If the whole operation is gone, its parts are not reported
                # again.
                if place == '' or shape is not None:
                    gone[place] = version
            there |= dict.fromkeys(places, version)
    return found


Difference = tuple[str, str, bool]


def _shapes(old: OperationShape, new: OperationShape) -> Iterator[Difference]:
    for name in old.path.keys() & new.path.keys():
        yield from _schemas(
            f'path.{name}', old.path[name], new.path[name], answer=False
        )
    yield from _schemas('query', old.query, new.query, answer=False)
    if old.body is None and new.body is not None:
        yield 'body', 'is read now', new.body_required
    elif old.body is not None and new.body is None:
        yield 'body', 'is no longer read', True
    elif old.body is not None and new.body is not None:
        yield from _schemas('body', old.body, new.body, answer=False)
        if new.body_required != old.body_required:
            what = 'is required' if new.body_required else 'is optional'
            yield 'body', f'{what} now', new.body_required
    for status in sorted(old.responses.keys() | new.responses.keys()):
        yield from _responses(status, old, new)


def _responses(
    status: int, old: OperationShape, new: OperationShape
) -> Iterator[Difference]:
    place = f'response {status}'
    if status not in old.responses:
        yield place, 'is added', False
        return
    if status not in new.responses:
        yield place, 'is removed', status < 400
        return
    before, after = old.responses[status], new.responses[status]
    if before is not None and after is not None:
        yield from _schemas(place, before, after, answer=True)
    elif after is not None:
        yield place, 'has a body now', False
    elif before is not None:
        yield place, 'has no body any more', True
    headers = old.headers.get(status, {}), new.headers.get(status, {})
    for name in sorted(headers[0].keys() & headers[1].keys()):
        yield from _schemas(
            f'{place}.{name}', headers[0][name], headers[1][name], answer=True
        )
    for name in sorted(headers[0].keys() ^ headers[1].keys()):
        is_new = name in headers[1]
        what = f'{"has" if is_new else "lacks"} header {name} now'
        yield place, what, not is_new


def _schemas(
    place: str, old: Schema | bool, new: Schema | bool, *, answer: bool
) -> Iterator[Difference]:
    """Yield the differences of two schemas, the outermost first."""
    old = {} if old is True else old
    new = {} if new is True else new
    if old == new:
        return
    if isinstance(old, bool):
        what = 'is allowed' if new else 'may be anything'
        yield place, f'{what} now', answer
        return
    if isinstance(new, bool):
        yield place, 'is no longer allowed', not answer
        return
    yield from _types(place, old, new, answer=answer)
    yield from _enums(place, old, new, answer=answer)
    yield from _bounds(place, old, new, answer=answer)
    for keyword in _others(old, new):
        if old.get(keyword) != new.get(keyword):
            is_looser = keyword not in new
            is_tighter = keyword not in old
            breaking = not (is_tighter if answer else is_looser)
            yield place, f'has another {keyword}', breaking
    yield from _branches(place, old, new, answer=answer)
    yield from _properties(place, old, new, answer=answer)
    yield from _inside(place, old, new, answer=answer)


def _others(old: Schema, new: Schema) -> list[str]:
    """Return the keywords of either schema that have no comparison rule."""
    known = _COMPARED | _NOTES
    return [
        keyword
        for keyword in dict.fromkeys((*old, *new))
        if keyword not in known and not keyword.startswith('x-')
    ]


def _types(
    place: str, old: Schema, new: Schema, *, answer: bool
) -> Iterator[Difference]:
    before, after = types_of(old), types_of(new)
    if bool(before) is not bool(after):
        accepts_more = not after
        kinds = 'of any type' if accepts_more else ' or '.join(after)
        yield place, f'may be {kinds} now', accepts_more is answer
        return
    gained = [name for name in after if name not in before]
    lost = [name for name in before if name not in after]
    # Every integer is a number: this gains or loses nothing.
    if 'number' in before:
        gained = [name for name in gained if name != 'integer']
    if 'number' in after:
        lost = [name for name in lost if name != 'integer']
    if gained:
        yield place, f'may be {" or ".join(gained)} now', answer
    if lost:
        yield place, f'is no longer {" or ".join(lost)}', not answer


def _enums(
    place: str, old: Schema, new: Schema, *, answer: bool
) -> Iterator[Difference]:
    before, after = old.get('enum'), new.get('enum')
    if before == after:
        return
    if before is None or after is None:
        accepts_more = after is None
        what = 'any value' if accepts_more else 'only some values'
        yield place, f'has {what} now', accepts_more is answer
        return
    gained = [str(value) for value in after if value not in before]
    lost = [str(value) for value in before if value not in after]
    if gained:
        yield place, f'may be {", ".join(gained)} now', answer
    if lost:
        yield place, f'is no longer {", ".join(lost)}', not answer


def _bounds(
    place: str, old: Schema, new: Schema, *, answer: bool
) -> Iterator[Difference]:
    for keyword, larger_is_less in _BOUNDS.items():
        before, after = old.get(keyword), new.get(keyword)
        if before == after:
            continue
        if before is None or after is None:
            accepts_less = before is None
        else:
            accepts_less = (after > before) is larger_is_less
        limit = 'no limit' if after is None else after
        yield place, f'has {keyword} {limit} now', accepts_less is not answer


def _branches(
    place: str, old: Schema, new: Schema, *, answer: bool
) -> Iterator[Difference]:
    """Compare alternatives, pairwise if as many were added as removed."""
    for keyword in schema_tree.BRANCHES:
        before, after = old.get(keyword, []), new.get(keyword, [])
        gone = [one for one in before if one not in after]
        come = [one for one in after if one not in before]
        if len(gone) == len(come):
            for one, other in zip(gone, come, strict=True):
                yield from _schemas(place, one, other, answer=answer)
        elif gone and come:
            yield place, f'has other {keyword}', True
        else:
            # The first alternative restricts a schema that accepted
            # everything.
            is_choice = keyword != 'allOf' and bool(before) and bool(after)
            accepts_more = bool(come) is is_choice
            yield place, f'has other {keyword}', accepts_more is answer


def _properties(
    place: str, old: Schema, new: Schema, *, answer: bool
) -> Iterator[Difference]:
    before, after = old.get('properties', {}), new.get('properties', {})
    was, now = set(old.get('required', ())), set(new.get('required', ()))
    for name in dict.fromkeys((*before, *after, *sorted(was | now))):
        where = f'{place}.{name}'
        if name in before and name not in after:
            yield where, 'is removed', True
        elif name in after and name not in before:
            required = ' and required' if name in now and not answer else ''
            yield where, f'is added{required}', bool(required)
        else:
            if name in now - was:
                what = 'is always there now' if answer else 'is required now'
                yield where, what, not answer
            if name in was - now:
                what = 'may be missing now' if answer else 'is optional now'
                yield where, what, answer
            if name in before:
                yield from _schemas(
                    where, before[name], after[name], answer=answer
                )


def _inside(
    place: str, old: Schema, new: Schema, *, answer: bool
) -> Iterator[Difference]:
    """Compare items of lists, and properties without a name."""
    for keyword in _INSIDE:
        where = place + schema_tree.step(keyword)
        before, after = old.get(keyword, True), new.get(keyword, True)
        yield from _schemas(where, before, after, answer=answer)
    # A name without its own pattern falls under additionalProperties, and an
    # item without its own prefix schema under items.
    for keyword, others in (
        ('patternProperties', 'additionalProperties'),
        ('prefixItems', 'items'),
    ):
        was, now = _keyed(old.get(keyword, ())), _keyed(new.get(keyword, ()))
        for key in {**was, **now}:
            yield from _schemas(
                place + schema_tree.step(keyword, key),
                was[key] if key in was else old.get(others, True),
                now[key] if key in now else new.get(others, True),
                answer=answer,
            )


def _keyed(found: Any) -> dict[Any, Any]:
    return dict(found if isinstance(found, Mapping) else enumerate(found))


def _places(shape: OperationShape) -> Iterator[str]:
    yield from _places_in('query', shape.query)
    if shape.body is not None:
        yield from _places_in('body', shape.body)
    for status, schema in shape.responses.items():
        yield f'response {status}'
        if schema is not None:
            yield from _places_in(f'response {status}', schema)


def _places_in(place: str, schema: Schema) -> Iterator[str]:
    for where, _found in schema_tree.walk(schema, place):
        if where == schema_tree.drop_unnamed_steps(where) != place:
            yield where
