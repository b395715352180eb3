# SPDX-License-Identifier: Apache-2.0
"""Versioned objects in the columns of an SQL database.

A row lives longer than a release. :class:`StoredObject` is a column type that
writes an object in the version that every live server can read, and reads
every older version as the newest one::

    cap = CurrentCap('keys-engine')    # ServerProcess(..., on_view=cap.update)

    class Backup(Base):
        __tablename__ = 'backups'
        id = mapped_column(String(36), primary_key=True)
        request = mapped_column(StoredObject(BackupRequest, cap))
        request_versions = versions_column('request')

``vobjects stored scan`` counts rows by version, and ``vobjects fleet
can-roll-back`` tells which rows an older release cannot read. Both find the
columns in the :class:`StoredColumn` objects that the service declares.

::

    text        the stored text, and the versions in it
    value       StoredText: an object that is read on request
    column      StoredObject, LazyStoredObject, CurrentCap
    scan        count rows by version
    verdict     which rows an older release cannot read
"""

from vobjects_sql.stored.column import (
    CurrentCap,
    LazyStoredObject,
    StoredObject,
)
from vobjects_sql.stored.scan import StoredColumn
from vobjects_sql.stored.text import versions_column
from vobjects_sql.stored.value import StoredText, StoredTooNew

__all__ = [
    'CurrentCap',
    'LazyStoredObject',
    'StoredColumn',
    'StoredObject',
    'StoredText',
    'StoredTooNew',
    'versions_column',
]
