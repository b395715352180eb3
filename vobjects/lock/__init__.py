# SPDX-License-Identifier: Apache-2.0
"""The lock: a reviewed text file with every released version of every type.

The commands ``vobjects lock`` write it, and compare the code with it by
its rules: a change that breaks a live peer or a stored object is reported
with the code that fixes it. ``load`` reads a file, and ``Lock`` has
its types and releases.

::

    model.py            a lock as values: types, fields, releases, acceptances
    text.py             write a lock as text, one table per type and version
    parse.py            parse the text, strictly
    losses.py           conversions of fields, and their loss
    field_schemas.py    schemas of oslo.versionedobjects fields
    fingerprint.py      the fingerprint of oslo.versionedobjects' own check
    registries.py       registered classes, including services' own registries
    snapshot.py         registered classes as a lock
    changes.py          differences between two locks
    rules.py            the rules for changes, as a table
    check.py            apply the rules to two locks
    fixes.py            the code that fixes a finding
    by_hand.py          conversions by hand, nested types: checks and fixes
    schema_code.py      the schema of a field as Python code
    field_code.py       the history of fields as Python code
    annotation_code.py  the same as annotations
    source_code.py      find and change declarations in source code
    samples.py          filled instances of any type
    service_quirks.py   how services convert objects by hand, and send them
    reports.py          findings as text, as data, and as GitHub annotations
    edit.py             update, release
    drop.py             drop versions that older microversions need
    lock_names.py       find a lock: file, release, git, import
    golden.py           primitives as each release wrote them
    installed_locks.py  the locks of installed services

A running service loads this package only to look up a release.
"""

from vobjects import _lazy

__getattr__, __dir__ = _lazy.attributes(__name__, __file__)
