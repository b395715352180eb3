# SPDX-License-Identifier: Apache-2.0
"""Compare the contract of two microversions.

A change is *breaking* if a client that worked before may fail after it: the
API may reject its requests, or a response may lack a value or contain one that
the client does not expect. All other changes are *additive*. A new property of
a response is additive, because clients must ignore unknown properties. A new
value of an enumeration in a response is breaking, because clients branch on
values.

=====================  ===================  ===================
change                 in a request         in a response
=====================  ===================  ===================
property is added      additive; breaking   additive
                       if it is required
property is removed    breaking             breaking
becomes required       breaking             additive
becomes optional       additive             breaking
accepts more values    additive             breaking
accepts fewer values   breaking             additive
=====================  ===================  ===================

A new operation or status is additive. The removal of an operation, or of the
status of a success, is breaking.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from vobjects.field_schemas import types_of
from vobjects.versions import Version
from vobjects_contract import schema_tree
from vobjects_contract.registry import Contract, OperationShape, parts
from vobjects_contract.schema_tree import Schema

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


#: Location, description, and whether the change is breaking.
Difference = tuple[str, str, bool]


def _difference(
    location: str, description: str, accepts_more: bool
) -> Difference:
    """Return a change by which a schema accepts more or fewer values."""
    return location, description, accepts_more is _in_response(location)


def _in_response(location: str) -> bool:
    return location.startswith('response ')


def _shapes(old: OperationShape, new: OperationShape) -> Iterator[Difference]:
    for name in old.path.keys() & new.path.keys():
        yield from _schemas(f'path.{name}', old.path[name], new.path[name])
    yield from _schemas('query', old.query, new.query)
    if old.body is None and new.body is not None:
        yield 'body', 'is read now', new.body_required
    elif old.body is not None and new.body is None:
        yield 'body', 'is no longer read', True
    elif old.body is not None and new.body is not None:
        yield from _schemas('body', old.body, new.body)
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
        yield from _schemas(location, before, after)
    elif after is not None:
        yield location, 'has a body now', False
    elif before is not None:
        yield location, 'no longer has a body', True
    was, now = old.headers.get(status, {}), new.headers.get(status, {})
    for name in sorted(was.keys() & now.keys()):
        yield from _schemas(f'{location}.{name}', was[name], now[name])
    for name in sorted(now.keys() - was.keys()):
        yield location, f'has header {name} now', False
    for name in sorted(was.keys() - now.keys()):
        yield location, f'lacks header {name} now', True


def _schemas(
    location: str, old: Schema | bool, new: Schema | bool
) -> Iterator[Difference]:
    """Yield the differences of two schemas, the outermost first."""
    old = {} if old is True else old
    new = {} if new is True else new
    if old == new:
        return
    if isinstance(old, bool):
        description = 'is allowed' if new else 'may be anything'
        yield _difference(location, f'{description} now', True)
        return
    if isinstance(new, bool):
        yield _difference(location, 'is no longer allowed', False)
        return
    yield from _types(location, old, new)
    yield from _enums(location, old, new)
    yield from _limits(location, old, new)
    known = _COMPARED | _ANNOTATIONS
    for keyword in dict.fromkeys((*old, *new)):
        if (
            keyword not in known
            and not keyword.startswith('x-')
            and old.get(keyword) != new.get(keyword)
        ):
            # Any value of an unknown keyword may restrict the schema.
            breaking = keyword in (old if _in_response(location) else new)
            yield location, f'has a different {keyword}', breaking
    yield from _alternatives(location, old, new)
    yield from _properties(location, old, new)
    yield from _subschemas(location, old, new)


def _types(location: str, old: Schema, new: Schema) -> Iterator[Difference]:
    before, after = types_of(old), types_of(new)
    if bool(before) is not bool(after):
        types = ' or '.join(after) or 'of any type'
        yield _difference(location, f'may be {types} now', not after)
        return
    gained = [name for name in after if name not in before]
    lost = [name for name in before if name not in after]
    # Every integer is a number: this gains or loses nothing.
    if 'number' in before:
        gained = [name for name in gained if name != 'integer']
    if 'number' in after:
        lost = [name for name in lost if name != 'integer']
    if gained:
        yield _difference(location, f'may be {" or ".join(gained)} now', True)
    if lost:
        yield _difference(location, f'is no longer {" or ".join(lost)}', False)


def _enums(location: str, old: Schema, new: Schema) -> Iterator[Difference]:
    before, after = old.get('enum'), new.get('enum')
    if before == after:
        return
    if before is None or after is None:
        values = 'any value' if after is None else 'only some values'
        yield _difference(location, f'has {values} now', after is None)
        return
    gained = [str(value) for value in after if value not in before]
    lost = [str(value) for value in before if value not in after]
    if gained:
        yield _difference(location, f'may be {", ".join(gained)} now', True)
    if lost:
        yield _difference(location, f'is no longer {", ".join(lost)}', False)


def _limits(location: str, old: Schema, new: Schema) -> Iterator[Difference]:
    for keyword, larger_is_less in _LIMITS.items():
        before, after = old.get(keyword), new.get(keyword)
        if before == after:
            continue
        if before is None or after is None:
            accepts_more = after is None
        else:
            accepts_more = (after > before) is not larger_is_less
        limit = f'no {keyword}' if after is None else f'{keyword} {after}'
        yield _difference(location, f'has {limit} now', accepts_more)


def _alternatives(
    location: str, old: Schema, new: Schema
) -> Iterator[Difference]:
    """Compare alternatives, pairwise if as many were added as removed."""
    for keyword in schema_tree.ALTERNATIVES:
        before, after = old.get(keyword, []), new.get(keyword, [])
        removed = [schema for schema in before if schema not in after]
        added = [schema for schema in after if schema not in before]
        description = f'has different {keyword}'
        if len(removed) == len(added):
            for pair in zip(removed, added, strict=True):
                yield from _schemas(location, *pair)
        elif removed and added:
            yield location, description, True
        else:
            # The first alternative restricts a schema that accepted
            # everything.
            is_choice = keyword != 'allOf' and bool(before) and bool(after)
            yield _difference(location, description, bool(added) is is_choice)


def _properties(
    location: str, old: Schema, new: Schema
) -> Iterator[Difference]:
    before, after = old.get('properties', {}), new.get('properties', {})
    was, now = set(old.get('required', ())), set(new.get('required', ()))
    in_response = _in_response(location)
    for name in dict.fromkeys((*before, *after, *sorted(was | now))):
        sublocation = f'{location}.{name}'
        if name in before and name not in after:
            yield sublocation, 'is removed', True
        elif name in after and name not in before:
            required = name in now and not in_response
            suffix = ' and required' if required else ''
            yield sublocation, f'is added{suffix}', required
        else:
            if name in now - was:
                verb = 'always present' if in_response else 'required'
                yield _difference(sublocation, f'is {verb} now', False)
            if name in was - now:
                verb = 'may be missing' if in_response else 'is optional'
                yield _difference(sublocation, f'{verb} now', True)
            if name in before:
                yield from _schemas(sublocation, before[name], after[name])


def _subschemas(
    location: str, old: Schema, new: Schema
) -> Iterator[Difference]:
    """Compare items of lists, and properties without a name."""
    for keyword in _SUBSCHEMAS:
        sublocation = location + schema_tree.step(keyword)
        before, after = old.get(keyword, True), new.get(keyword, True)
        yield from _schemas(sublocation, before, after)
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
            )


def _keyed(schemas: Any) -> dict[Any, Any]:
    return dict(
        schemas if isinstance(schemas, Mapping) else enumerate(schemas)
    )


def _locations(shape: OperationShape) -> Iterator[str]:
    """Yield the locations of the responses, and of the named parts."""
    for status in shape.responses:
        yield f'response {status}'
    for location, schema in parts(shape):
        for sublocation, _schema in schema_tree.walk(schema, location):
            named = schema_tree.drop_unnamed_steps(sublocation)
            if sublocation == named != location:
                yield sublocation
