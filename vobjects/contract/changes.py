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
_LIMITS: Mapping[str, bool] = {
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
_ANNOTATIONS = frozenset(
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
_SUBSCHEMAS = (
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
        *_LIMITS,
        *_SUBSCHEMAS,
        *schema_tree.ALTERNATIVES,
    )
)


@dataclasses.dataclass(frozen=True, slots=True)
class ContractChange:
    """One difference between two microversions.

    :ivar operation: name of the operation
    :ivar location: path within the shape, such as ``body.cluster.config``,
        ``query.limit`` or ``response 200.clusters[].config``; empty: the
        operation itself
    :ivar description: predicate of the sentence, such as ``is added``
    :ivar breaking: whether clients may fail; see the module's docstring
    """

    operation: str
    location: str
    description: str
    breaking: bool

    @property
    def subject(self) -> str:
        """The last name in the location; empty for an operation."""
        return schema_tree.drop_unnamed_steps(self.location).rpartition('.')[2]

    def __str__(self) -> str:
        location = f': {self.location}' if self.location else ''
        return f'{self.operation}{location} {self.description}'


@dataclasses.dataclass(frozen=True, slots=True)
class ReturnedPart:
    """A part that was removed and came back.

    :ivar removed_in: first version that lacks it
    :ivar returned_in: first version that has it again
    """

    operation: str
    location: str
    removed_in: Version
    returned_in: Version

    def __str__(self) -> str:
        location = f': {self.location}' if self.location else ''
        return (
            f'{self.operation}{location} disappeared at {self.removed_in} and'
            f' returned at {self.returned_in}'
        )


def compare(
    contract: Contract, old: Version, new: Version
) -> list[ContractChange]:
    """Return the changes from ``old`` to ``new``, in the contract's order.

    :raises vobjects.exceptions.VobjectsError: a microversion does not exist
    """
    before, after = contract.at(old), contract.at(new)
    result: list[ContractChange] = []
    for operation in contract.operations:
        name = operation.name
        if name not in before and name in after:
            result.append(ContractChange(name, '', 'is added', breaking=False))
        elif name in before and name not in after:
            result.append(
                ContractChange(name, '', 'is removed', breaking=True)
            )
        elif name in before:
            differences = _shapes(before[name], after[name])
            result += [ContractChange(name, *diff) for diff in differences]
    return result


def returned_parts(contract: Contract) -> list[ReturnedPart]:
    """Return the parts that were removed and came back in a later version."""
    result: list[ReturnedPart] = []
    for operation in contract.operations:
        name = operation.name
        last: dict[str, Version] = {}  # location -> last version with it
        removed: dict[str, Version] = {}  # location -> first without it
        for version in contract.versions:
            shape = contract.at(version).get(name)
            locations = set() if shape is None else {'', *_locations(shape)}
            for location in sorted(locations & removed.keys()):
                result.append(
                    ReturnedPart(
                        name, location, removed.pop(location), version
                    )
                )
            for location in last.keys() - locations - removed.keys():
                # If the whole operation is removed, its parts are not
                # reported again.
                if location == '' or shape is not None:
                    removed[location] = version
            last |= dict.fromkeys(locations, version)
    return result


Difference = tuple[str, str, bool]


def _shapes(old: OperationShape, new: OperationShape) -> Iterator[Difference]:
    for name in old.path.keys() & new.path.keys():
        yield from _schemas(
            f'path.{name}', old.path[name], new.path[name], in_response=False
        )
    yield from _schemas('query', old.query, new.query, in_response=False)
    if old.body is None and new.body is not None:
        yield 'body', 'is read now', new.body_required
    elif old.body is not None and new.body is None:
        yield 'body', 'is no longer read', True
    elif old.body is not None and new.body is not None:
        yield from _schemas('body', old.body, new.body, in_response=False)
        if new.body_required != old.body_required:
            description = 'is required' if new.body_required else 'is optional'
            yield 'body', f'{description} now', new.body_required
    for status in sorted(old.responses.keys() | new.responses.keys()):
        yield from _responses(status, old, new)


def _responses(
    status: int, old: OperationShape, new: OperationShape
) -> Iterator[Difference]:
    location = f'response {status}'
    if status not in old.responses:
        yield location, 'is added', False
        return
    if status not in new.responses:
        yield location, 'is removed', status < 400
        return
    before, after = old.responses[status], new.responses[status]
    if before is not None and after is not None:
        yield from _schemas(location, before, after, in_response=True)
    elif after is not None:
        yield location, 'has a body now', False
    elif before is not None:
        yield location, 'no longer has a body', True
    headers = old.headers.get(status, {}), new.headers.get(status, {})
    for name in sorted(headers[0].keys() & headers[1].keys()):
        yield from _schemas(
            f'{location}.{name}',
            headers[0][name],
            headers[1][name],
            in_response=True,
        )
    for name in sorted(headers[0].keys() ^ headers[1].keys()):
        is_new = name in headers[1]
        description = f'{"has" if is_new else "lacks"} header {name} now'
        yield location, description, not is_new


def _schemas(
    location: str, old: Schema | bool, new: Schema | bool, *, in_response: bool
) -> Iterator[Difference]:
    """Yield the differences of two schemas, the outermost first."""
    old = {} if old is True else old
    new = {} if new is True else new
    if old == new:
        return
    if isinstance(old, bool):
        description = 'is allowed' if new else 'may be anything'
        yield location, f'{description} now', in_response
        return
    if isinstance(new, bool):
        yield location, 'is no longer allowed', not in_response
        return
    yield from _types(location, old, new, in_response=in_response)
    yield from _enums(location, old, new, in_response=in_response)
    yield from _limits(location, old, new, in_response=in_response)
    for keyword in _uncompared(old, new):
        if old.get(keyword) != new.get(keyword):
            is_looser = keyword not in new
            is_tighter = keyword not in old
            breaking = not (is_tighter if in_response else is_looser)
            yield location, f'has a different {keyword}', breaking
    yield from _alternatives(location, old, new, in_response=in_response)
    yield from _properties(location, old, new, in_response=in_response)
    yield from _subschemas(location, old, new, in_response=in_response)


def _uncompared(old: Schema, new: Schema) -> list[str]:
    """Return the keywords of either schema that have no comparison rule."""
    known = _COMPARED | _ANNOTATIONS
    return [
        keyword
        for keyword in dict.fromkeys((*old, *new))
        if keyword not in known and not keyword.startswith('x-')
    ]


def _types(
    location: str, old: Schema, new: Schema, *, in_response: bool
) -> Iterator[Difference]:
    before, after = types_of(old), types_of(new)
    if bool(before) is not bool(after):
        accepts_more = not after
        kinds = 'of any type' if accepts_more else ' or '.join(after)
        yield location, f'may be {kinds} now', accepts_more is in_response
        return
    gained = [name for name in after if name not in before]
    lost = [name for name in before if name not in after]
    # Every integer is a number: this gains or loses nothing.
    if 'number' in before:
        gained = [name for name in gained if name != 'integer']
    if 'number' in after:
        lost = [name for name in lost if name != 'integer']
    if gained:
        yield location, f'may be {" or ".join(gained)} now', in_response
    if lost:
        yield location, f'is no longer {" or ".join(lost)}', not in_response


def _enums(
    location: str, old: Schema, new: Schema, *, in_response: bool
) -> Iterator[Difference]:
    before, after = old.get('enum'), new.get('enum')
    if before == after:
        return
    if before is None or after is None:
        accepts_more = after is None
        description = 'any value' if accepts_more else 'only some values'
        yield location, f'has {description} now', accepts_more is in_response
        return
    gained = [str(value) for value in after if value not in before]
    lost = [str(value) for value in before if value not in after]
    if gained:
        yield location, f'may be {", ".join(gained)} now', in_response
    if lost:
        yield location, f'is no longer {", ".join(lost)}', not in_response


def _limits(
    location: str, old: Schema, new: Schema, *, in_response: bool
) -> Iterator[Difference]:
    for keyword, larger_is_less in _LIMITS.items():
        before, after = old.get(keyword), new.get(keyword)
        if before == after:
            continue
        if before is None or after is None:
            accepts_less = before is None
        else:
            accepts_less = (after > before) is larger_is_less
        limit = f'no {keyword}' if after is None else f'{keyword} {after}'
        yield location, f'has {limit} now', accepts_less is not in_response


def _alternatives(
    location: str, old: Schema, new: Schema, *, in_response: bool
) -> Iterator[Difference]:
    """Compare alternatives, pairwise if as many were added as removed."""
    for keyword in schema_tree.ALTERNATIVES:
        before, after = old.get(keyword, []), new.get(keyword, [])
        removed = [schema for schema in before if schema not in after]
        added = [schema for schema in after if schema not in before]
        if len(removed) == len(added):
            for old_one, new_one in zip(removed, added, strict=True):
                yield from _schemas(
                    location, old_one, new_one, in_response=in_response
                )
        elif removed and added:
            yield location, f'has different {keyword}', True
        else:
            # The first alternative restricts a schema that accepted
            # everything.
            is_choice = keyword != 'allOf' and bool(before) and bool(after)
            accepts_more = bool(added) is is_choice
            yield (
                location,
                f'has different {keyword}',
                accepts_more is in_response,
            )


def _properties(
    location: str, old: Schema, new: Schema, *, in_response: bool
) -> Iterator[Difference]:
    before, after = old.get('properties', {}), new.get('properties', {})
    was, now = set(old.get('required', ())), set(new.get('required', ()))
    for name in dict.fromkeys((*before, *after, *sorted(was | now))):
        sublocation = f'{location}.{name}'
        if name in before and name not in after:
            yield sublocation, 'is removed', True
        elif name in after and name not in before:
            required = (
                ' and required' if name in now and not in_response else ''
            )
            yield sublocation, f'is added{required}', bool(required)
        else:
            if name in now - was:
                description = (
                    'is always present now'
                    if in_response
                    else 'is required now'
                )
                yield sublocation, description, not in_response
            if name in was - now:
                description = (
                    'may be missing now' if in_response else 'is optional now'
                )
                yield sublocation, description, in_response
            if name in before:
                yield from _schemas(
                    sublocation,
                    before[name],
                    after[name],
                    in_response=in_response,
                )


def _subschemas(
    location: str, old: Schema, new: Schema, *, in_response: bool
) -> Iterator[Difference]:
    """Compare items of lists, and properties without a name."""
    for keyword in _SUBSCHEMAS:
        sublocation = location + schema_tree.step(keyword)
        before, after = old.get(keyword, True), new.get(keyword, True)
        yield from _schemas(
            sublocation, before, after, in_response=in_response
        )
    # A name without its own pattern falls under additionalProperties, and an
    # item without its own prefix schema under items.
    for keyword, others in (
        ('patternProperties', 'additionalProperties'),
        ('prefixItems', 'items'),
    ):
        was, now = _keyed(old.get(keyword, ())), _keyed(new.get(keyword, ()))
        for key in {**was, **now}:
            yield from _schemas(
                location + schema_tree.step(keyword, key),
                was[key] if key in was else old.get(others, True),
                now[key] if key in now else new.get(others, True),
                in_response=in_response,
            )


def _keyed(schemas: Any) -> dict[Any, Any]:
    return dict(
        schemas if isinstance(schemas, Mapping) else enumerate(schemas)
    )


def _locations(shape: OperationShape) -> Iterator[str]:
    yield from _locations_in('query', shape.query)
    if shape.body is not None:
        yield from _locations_in('body', shape.body)
    for status, schema in shape.responses.items():
        yield f'response {status}'
        if schema is not None:
            yield from _locations_in(f'response {status}', schema)


def _locations_in(location: str, schema: Schema) -> Iterator[str]:
    for sublocation, _schema in schema_tree.walk(schema, location):
        if (
            sublocation
            == schema_tree.drop_unnamed_steps(sublocation)
            != location
        ):
            yield sublocation
