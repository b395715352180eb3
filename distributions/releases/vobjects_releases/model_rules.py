# SPDX-License-Identifier: Apache-2.0
"""Compare the pydantic models of requests and responses of two releases."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vobjects_releases.enumerations import enumeration
from vobjects_releases.findings import Finding, Rule
from vobjects_releases.models import Model, Models

NEW_FIELD_OMITTED = Rule(
    'MODEL_NEW_FIELD_OMITTED',
    'A client leaves a new field out of requests to servers that reject'
    ' unknown fields.',
)
REQUEST_ACCEPTED = Rule(
    'MODEL_REQUEST_ACCEPTED',
    'A server accepts the requests of clients of the older release.',
)
RESPONSE_COMPLETE = Rule(
    'MODEL_RESPONSE_COMPLETE',
    'A response has the fields that clients of the older release require, and'
    ' values that they accept.',
)
DOCUMENT_READ = Rule(
    'MODEL_DOCUMENT_READ',
    'Code that reads answers or stored documents accepts those of the older'
    ' release, which lack new fields.',
)
VALUE_KNOWN = Rule(
    'MODEL_VALUE_KNOWN',
    'Code that reads a document knows all values of an enumeration that the'
    ' other release writes.',
)

RULES = (
    NEW_FIELD_OMITTED,
    REQUEST_ACCEPTED,
    RESPONSE_COMPLETE,
    DOCUMENT_READ,
    VALUE_KNOWN,
)


def compare(old: Models, new: Models) -> Iterator[Finding]:
    """Yield the documents of each release that the other rejects."""
    yield from _new_requests(old, new)
    yield from _old_requests(old, new)
    yield from _new_responses(old, new)
    yield from _old_documents(old, new)
    yield from _values(old, new)


def _new_requests(old: Models, new: Models) -> Iterator[Finding]:
    for write in new.writes:
        if write.omits or write.model not in old.requests:
            continue
        for name, model in new.reachable(write.model).items():
            before = old.models.get(name)
            if before is None or not before.strict:
                continue
            for field in sorted(model.fields.keys() - before.fields.keys()):
                if field not in write.excluded and not new.rewrites(
                    model, field
                ):
                    yield Finding(
                        NEW_FIELD_OMITTED,
                        new.owner(model, field),
                        field,
                        'is new and sent in'
                        f' {_name(write.model)}, but servers of the older'
                        ' release reject unknown fields',
                        write.location,
                    )


def _old_requests(old: Models, new: Models) -> Iterator[Finding]:
    for root, before, model in _shared(old, new, new.requests & old.requests):
        for field in sorted(model.required - before.fields.keys()):
            yield _finding(
                REQUEST_ACCEPTED,
                new,
                model,
                field,
                f'is required in {_name(root)}, but clients of the older'
                ' release do not send it',
            )
        yield from _narrowed(old, before, new, model, root)
    for write in old.writes:
        if write.model in new.requests:
            yield from _removed_from_request(old, new, write.model)


def _shared(
    old: Models, new: Models, roots: set[str]
) -> Iterator[tuple[str, Model, Model]]:
    """Yield the models that both releases reach, with one of their roots."""
    found: dict[str, str] = {}
    for root in sorted(roots):
        for name in new.reachable(root).keys() & old.reachable(root).keys():
            found.setdefault(name, root)
    for name, root in sorted(found.items()):
        yield root, old.models[name], new.models[name]


def _narrowed(
    old: Models, before: Model, new: Models, model: Model, root: str
) -> Iterator[Finding]:
    """Check what the fields of a request no longer accept."""
    sent = {
        field
        for write in old.writes
        if not write.omits and before.name in old.reachable(write.model)
        for field in before.fields.keys() - write.excluded
    }
    for field in sorted(model.fields.keys() & before.fields.keys()):
        if new.mentions(model, field) or new.conversions.mentions(
            model.cls.name, field
        ):
            continue
        kinds = new.kinds(model, field)
        lost = {
            kind
            for kind in old.kinds(before, field) - kinds
            if kind == 'None' or kind[:1] in '\'"'
        }
        if field in model.required - before.required - sent:
            text = (
                f'is required in {_name(root)}, but clients of the older'
                ' release may leave it out'
            )
        elif lost and kinds.isdisjoint(('Any', 'str')):
            text = (
                f'must not be {" or ".join(sorted(lost))} in {_name(root)},'
                ' unlike in the older release'
            )
        else:
            continue
        yield _finding(REQUEST_ACCEPTED, new, model, field, text)


def _removed_from_request(
    old: Models, new: Models, root: str
) -> Iterator[Finding]:
    known = new.reachable(root)
    for name, before in old.reachable(root).items():
        model = known.get(name)
        if model is None or not model.strict:
            continue
        for field in sorted(before.fields.keys() - model.fields.keys()):
            if not new.mentions(model, field):
                yield _finding(
                    REQUEST_ACCEPTED,
                    old,
                    before,
                    field,
                    f'is rejected in {_name(root)}, but clients of the older'
                    ' release send it',
                )


def _new_responses(old: Models, new: Models) -> Iterator[Finding]:
    for root, before, model in _shared(
        old, new, new.responses & old.responses
    ):
        for field in sorted(before.required - model.fields.keys()):
            yield _finding(
                RESPONSE_COMPLETE,
                old,
                before,
                field,
                f'is missing in {_name(root)}, but clients of the older'
                ' release require it',
            )
        for field in sorted(before.fields.keys() & model.fields.keys()):
            added = _unexpected(old, before, new, model, field)
            if new.fills(model, field):
                added.discard('None')
            if added and not new.conversions.mentions(model.cls.name, field):
                yield _finding(
                    RESPONSE_COMPLETE,
                    new,
                    model,
                    field,
                    f'may be {" or ".join(sorted(added))} in {_name(root)},'
                    ' which clients of the older release do not expect',
                )


def _old_documents(old: Models, new: Models) -> Iterator[Finding]:
    for root, before, model in _shared(
        old, new, new.reads & old.models.keys()
    ):
        for field in sorted(model.required - before.fields.keys()):
            if not new.mentions(model, field):
                yield _finding(
                    DOCUMENT_READ,
                    new,
                    model,
                    field,
                    f'is required to read {_name(root)}, but documents of the'
                    ' older release lack it',
                )


def _unexpected(
    old: Models, before: Model, new: Models, model: Model, field: str
) -> set[str]:
    """Return the alternatives of a field that are new.

    A model that only has another name is not new.
    """
    known = old.kinds(before, field)
    added = set(new.kinds(model, field) - known)
    if 'Any' in added | known:
        return set()
    was, now = old.parts(before, field), new.parts(model, field)
    for name in now.keys() - was.keys():
        for other in was.keys() - now.keys():
            if was[other].required <= now[name].fields.keys():
                added = {
                    kind
                    for kind in added
                    if re.sub(rf'\b{name}\b', other, kind) not in known
                }
    return added


def _values(old: Models, new: Models) -> Iterator[Finding]:
    """Check the values of enumerations that one release does not know."""
    for reader, writer, roots, text in (
        (
            old,
            new,
            old.reads,
            'is new, and readers of the older release reject it',
        ),
        (
            new,
            old,
            new.reads | new.requests,
            'was removed, but documents of the older release have it',
        ),
    ):
        readable = reader.enumerations(roots & writer.models.keys())
        for name, known in sorted(readable.items()):
            cls = writer.tree.classes.get(name)
            values = enumeration(writer.tree, cls) if cls else None
            if cls is None or values is None:
                continue
            for value, member in values.items():
                if value not in known and not new.conversions.mentions(
                    cls.name, member
                ):
                    yield Finding(
                        VALUE_KNOWN, cls.name, member, text, cls.location
                    )


def _finding(
    rule: Rule, models: Models, model: Model, field: str, text: str
) -> Finding:
    owner = models.owner(model, field)
    return Finding(rule, owner, field, text, model.cls.location)


def _name(qualified: str) -> str:
    return qualified.rpartition('.')[2]
