# SPDX-License-Identifier: Apache-2.0
"""Load the related IDs of all rows of a list with one statement."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import sqlalchemy

from engine.db import models, statements

#: Field -> ID of a row -> IDs of the related rows.
Related = Mapping[str, Mapping[str, list[str]]]


_NODE = statements.table(models.Node)
_BINDING = statements.table(models.ClusterPolicy)
_DEPENDENCY = statements.table(models.ActionDependency)


def _selection(
    part: int, owner: Any, other: Any, *order: Any
) -> sqlalchemy.Select[Any]:
    """Return the statement that selects one kind of relation.

    :param part: the number of the relation in the result
    :param owner: the column with the ID of the list's row
    :param other: the column with the ID of the related row
    :param order: columns to sort the related rows of one owner by
    """
    return sqlalchemy.select(
        sqlalchemy.literal_column(str(part)).label('part'),
        owner.label('owner'),
        other.label('other'),
        *(
            column.label(f'order_{number}')
            for number, column in enumerate(order)
        ),
    ).where(statements.in_list(owner, 'ids'))


#: Nodes are sorted by index, policies by priority.
_OF_CLUSTERS = sqlalchemy.union_all(
    _selection(0, _NODE.c.cluster_id, _NODE.c.id, _NODE.c.index, _NODE.c.id),
    _selection(
        1,
        _BINDING.c.cluster_id,
        _BINDING.c.policy_id,
        _BINDING.c.priority,
        _BINDING.c.id,
    ),
).order_by('part', 'order_0', 'order_1')

_OF_ACTIONS = sqlalchemy.union_all(
    _selection(0, _DEPENDENCY.c.dependent, _DEPENDENCY.c.depended),
    _selection(1, _DEPENDENCY.c.depended, _DEPENDENCY.c.dependent),
).order_by('part', 'other')


def of_clusters(
    connection: sqlalchemy.Connection, ids: Collection[str]
) -> Related:
    """Return the IDs of the nodes and policies of clusters."""
    return _related_ids(connection, _OF_CLUSTERS, ('nodes', 'policies'), ids)


def of_actions(
    connection: sqlalchemy.Connection, ids: Collection[str]
) -> Related:
    """Return the IDs of the dependencies and dependents of actions."""
    return _related_ids(
        connection, _OF_ACTIONS, ('depends_on', 'depended_by'), ids
    )


def _related_ids(
    connection: sqlalchemy.Connection,
    query: sqlalchemy.CompoundSelect[Any],
    parts: Sequence[str],
    ids: Collection[str],
) -> Related:
    related: list[dict[str, list[str]]] = [
        {id_: [] for id_ in ids} for _part in parts
    ]
    for row in connection.execute(query, {'ids': ids}).all():
        related[row[0]][row[1]].append(row[2])
    return dict(zip(parts, related, strict=True))
