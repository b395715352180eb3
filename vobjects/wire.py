# SPDX-License-Identifier: Apache-2.0
"""JSON of objects, rows and lists.

A service that reads many rows need not create an object of each: from the
columns of a query, :func:`from_columns` makes a list whose objects are created
when they are accessed, and which is written as JSON without that::

    wire.from_columns(Cluster, {'id': ids, 'metadata': raw})

A JSON column need not be read either: pass :class:`RawJson`. This package
writes and reads JSON as the standard library does, but faster.
"""

from vobjects.objects.codec.json_text import RawJson, dumps, loads
from vobjects.objects.codec.list_decoding import from_columns, from_row

__all__ = ['RawJson', 'dumps', 'from_columns', 'from_row', 'loads']
