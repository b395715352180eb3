# SPDX-License-Identifier: Apache-2.0
"""Types of vobjects: every way to declare a field."""

from __future__ import annotations

from typing import Any, reveal_type

from vobjects import fields, objects
from vobjects.objects.history import added, changed, removed, renamed

_TIMES: dict[str, fields.Field[Any]] = {
    'created_at': fields.DateTimeField(nullable=True),
}
_NOTE = fields.StringField(nullable=True)


class Owned(objects.Resource):
    """An unregistered base class."""

    fields = {'project': fields.StringField()}


@objects.register
class Node(Owned):
    VERSION = '1.2'
    VERSION_MAP = {'1.3': '1.2'}

    fields = {
        'name': fields.NameField(),
        'status': fields.EnumField(valid_values=['UP', 'DOWN']),
        'size': renamed(
            '1.2', 'bytes', added('1.1', fields.IntegerField(nullable=True))
        ),
        'count': changed(
            '1.1',
            fields.StringField(),
            fields.IntegerField(),
            up=int,
            down=str,
        ),
        'gone': removed(
            '1.1', fields.StringField(nullable=True), dropped='1.1'
        ),
        'data': fields.sensitive(fields.JsonField(nullable=False)),
        'cluster': fields.ObjectField('Cluster', nullable=True),
        'map': fields.Field(
            fields.Dict(fields.Object('Node'), nullable=True), nullable=True
        ),
        'pairs': fields.Field(fields.List(fields.Set(fields.Integer()))),
        'note': _NOTE,
        'absent': fields.ObjectField('NotDefined'),
        **_TIMES,
    }


@objects.register
class Cluster(objects.Resource):
    fields = {
        'nodes': fields.ListOfObjectsField('Node'),
        'parent': fields.ObjectField('Cluster', nullable=True),
    }


@objects.register
class Nodes(objects.ObjectListBase, objects.Resource):
    fields = {'objects': fields.ListOfObjectsField('Node')}


@objects.register
class Other(Node):
    VERSION = '1.2'

    fields = {
        **_TIMES,
        'status': fields.IntegerField(),
    }


@objects.register
class Copied(objects.Request):
    fields = dict(Cluster.fields, extra=fields.FloatField())


def use(value: object) -> None:
    """Use a value."""


def read(node: Node, nodes: Nodes, other: Other, copied: Copied) -> None:
    reveal_type(node.name)  # reveals: str
    reveal_type(node.project)  # reveals: str
    reveal_type(node.status)  # reveals: str
    reveal_type(node.size)  # reveals: int | None
    reveal_type(node.count)  # reveals: int
    reveal_type(node.data)  # reveals: dict[str, Any]
    reveal_type(node.cluster)  # reveals: samples.nodes.Cluster | None
    n = node
    reveal_type(n.map)  # reveals: dict[str, samples.nodes.Node | None] | None
    reveal_type(node.pairs)  # reveals: list[set[int]]
    reveal_type(node.note)  # reveals: str | None
    reveal_type(node.absent)  # reveals: Any
    reveal_type(node.created_at)  # reveals: datetime.datetime | None
    reveal_type(node.obj_clone().count)  # reveals: int
    reveal_type(Node.obj_from_primitive({}).size)  # reveals: int | None
    reveal_type(nodes[0])  # reveals: samples.nodes.Node
    reveal_type([node_.count for node_ in nodes])  # reveals: list[int]
    reveal_type(nodes.objects)  # reveals: list[samples.nodes.Node]
    reveal_type(other.status)  # reveals: int
    reveal_type(other.name)  # reveals: str
    reveal_type(copied.parent)  # reveals: samples.nodes.Cluster | None
    reveal_type(copied.extra)  # reveals: float
    use(node.gone)  # reports: attr-defined
    use(node.nmae)  # reports: attr-defined
    if node.cluster:
        reveal_type(node.cluster.nodes[0].size)  # reveals: int | None
    use(node.cluster.nodes)  # reports: union-attr


def write(node: Node, object_: objects.Object) -> None:
    node.name = 'n'
    node.size = None
    node.name = None  # reports: assignment
    node.count = '3'  # reports: assignment
    node.nmae = 'n'  # reports: attr-defined
    node.cluster = node  # reports: assignment
    use(object_.name)  # reports: attr-defined


def make(context: object, values: dict[str, Any]) -> None:
    Node(context, name='n', size=None, project='p')
    Node(**values)
    Node(name=3)  # reports: arg-type
    Node(nmae='n')  # reports: call-arg
    Node(gone='n')  # reports: call-arg
    Nodes(objects=[Node()])
    Nodes(objects=[Cluster()])  # reports: list-item
