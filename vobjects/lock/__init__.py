# SPDX-License-Identifier: Apache-2.0
"""The lock: what every released version of every type is, in reviewed text.

::

    model.py        a lock as values: types, fields, releases, acceptances
    text.py         a lock as text, one block for each type and version
    parse.py        the text, read strictly
    notation.py     a field of oslo.versionedobjects as text
    fingerprint.py  what oslo.versionedobjects' own check computes
    registries.py   registered classes, of a service's own registry, too
    snapshot.py     registered classes as a lock
    changes.py      in what two versions of a type differ
    rules.py        what a change must not do: the table
    check.py        rules applied to two locks
    advice.py       the line to write
    place.py        where in the source a type and a field are
    samples.py      filled instances of any type
    sending.py      how services convert by hand, and send
    report/         findings as text, JSON, SARIF, JUnit, annotations
    edit.py         update, release
    collapse.py     unreleased versions merged into one, in the source
    sources.py      where a lock comes from: file, release, git, import
    golden.py       primitives as each release wrote them

What a peer of a locked version would read is :mod:`vobjects.testing.peers`,
and the laws that every type has to keep :mod:`vobjects.testing.laws`.

Nothing here is loaded by a running service, except to look up a release.
"""

from vobjects import _threading

#: Imported for its effect: before anything of oslo that would choose eventlet.
THREADING = _threading
