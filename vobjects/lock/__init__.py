# SPDX-License-Identifier: Apache-2.0
"""The lock: a reviewed text file with every released version of every type.

::

    model.py            a lock as values: types, fields, releases, acceptances
    text.py             write a lock as text, one block per type and version
    parse.py            parse the text, strictly
    field_schemas.py    schemas of oslo.versionedobjects fields
    fingerprint.py      the fingerprint of oslo.versionedobjects' own check
    registries.py       registered classes, including services' own registries
    snapshot.py         registered classes as a lock
    changes.py          differences between two locks
    rules.py            the rules for changes, as a table
    check.py            apply the rules to two locks
    by_hand.py          conversions by hand, and versions of nested types
    fixes.py            the code that fixes a finding
    fixes_by_hand.py    the same for classes that convert by hand
    field_code.py       declarations of fields as Python code
    source_location.py  the location of a type or a field in the source
    samples.py          filled instances of any type
    service_quirks.py   how services convert objects by hand, and send them
    report/             findings as text, JSON, SARIF, JUnit, annotations
    edit.py             update, release
    collapse.py         merge unreleased versions in the source
    lock_names.py       find a lock: file, release, git, import
    golden.py           primitives as each release wrote them
    installed_locks.py  the locks of installed services

:mod:`vobjects.testing.emulated_peer` emulates a peer of a locked version, and
:mod:`vobjects.testing.invariants` has the invariants that every type must
keep.

A running service loads this package only to look up a release.
"""

from vobjects import _threading  # noqa: F401 - before oslo.messaging
