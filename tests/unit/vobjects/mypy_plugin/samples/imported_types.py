# SPDX-License-Identifier: Apache-2.0
"""Types that refer to, and inherit from, types of another module."""

from __future__ import annotations

from typing import reveal_type

from samples import nodes

from vobjects import fields, objects


@objects.register
class Group(objects.Resource):
    fields = {
        'first': fields.ObjectField('Node'),
        'all': fields.ListOfObjectsField('Node', nullable=True),
        **nodes.Cluster.fields,
    }


@objects.register
class Special(nodes.Node):
    VERSION = '1.2'

    fields = {'special': fields.BooleanField(default=False)}


def read(group: Group, special: Special) -> None:
    reveal_type(group.first)  # reveals: samples.nodes.Node
    reveal_type(group.all)  # reveals: list[samples.nodes.Node] | None
    reveal_type(group.nodes)  # reveals: list[samples.nodes.Node]
    reveal_type(special.special)  # reveals: bool
    reveal_type(special.project)  # reveals: str
    Special(special=True, name='n', project='p')
    Special(gone='n')  # reports: call-arg
