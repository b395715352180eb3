# SPDX-License-Identifier: Apache-2.0
"""Run a conductor: ``cluster-infra-conductor FILE``."""

import uuid

import sqlalchemy
from sqlalchemy import orm

from cluster_infra import errors, models, types
from cluster_infra.service import SERVICE, configuration
from vobjects.fields import is_required
from vobjects.rpc import ServerProcess, current_call, handles
from vobjects_sql.ledger import SqlLedger, create_tables


class Collection:
    """The stored resources of one type.

    :param database: engine of the database
    :param row: class of the rows
    :param resource: class of the resources
    :param create_request: class whose fields tell which properties are
        required
    """

    def __init__(self, database, row, resource, create_request):
        self.session = orm.sessionmaker(database)
        self.row = row
        self.resource = resource
        self.create_request = create_request

    def show(self, row):
        """Return a row as a resource."""
        resource = self.resource(uuid=row.uuid)
        resource.obj_set_defaults()
        for name, field in self.resource.fields.items():
            if name in row.properties or field.nullable:
                setattr(resource, name, row.properties.get(name))
        return resource

    def lock(self, session, row_uuid):
        """Return a row that others cannot change in this transaction."""
        row = self.row
        # SQLite has no SELECT FOR UPDATE.
        same = sqlalchemy.update(row).where(row.uuid == row_uuid)
        session.execute(same.values(uuid=row_uuid))
        return self.find(session, row_uuid)

    def find(self, session, row_uuid):
        """Return a row."""
        query = sqlalchemy.select(self.row).where(self.row.uuid == row_uuid)
        row = session.scalar(query)
        if row is None:
            raise errors.NotFound(
                f'{self.resource.obj_name()} {row_uuid} does not exist.'
            )
        return row

    def add(self, session, properties, **columns):
        """Add a row, unless this call has added it already."""
        # The same call may arrive twice; its id leads to the same row.
        row_uuid = str(uuid.uuid5(uuid.NAMESPACE_OID, current_call()))
        query = sqlalchemy.select(self.row).where(self.row.uuid == row_uuid)
        row = session.scalar(query)
        if row is None:
            row = self.row(uuid=row_uuid, properties=properties, **columns)
            session.add(row)
        return self.show(row)

    def get(self, request):
        with self.session() as session:
            return self.show(self.find(session, request.uuid))

    def index(self, request):
        row = self.row
        query = sqlalchemy.select(row).order_by(row.id).limit(request.limit)
        with self.session() as session:
            if marker := request.get('marker'):
                last = self.find(session, marker)
                query = query.where(row.id > last.id)
            return [self.show(row) for row in session.scalars(query)]

    def update(self, request, **properties):
        """Change a row; null restores the default of a property."""
        changes = request.as_dict()
        row_uuid = changes.pop('uuid')
        for name, value in changes.items():
            field = self.create_request.fields[name]
            if value is None and is_required(field):
                raise errors.NotRemovable(f'{name} must have a value.')
            if value is None and not field.nullable:
                changes[name] = field.default
        with self.session.begin() as session:
            row = self.lock(session, row_uuid)
            row.properties = {**row.properties, **changes, **properties}
            return self.show(row)


class ClusterTemplates:
    """Handle the requests about cluster templates."""

    def __init__(self, database):
        self.templates = Collection(
            database,
            models.ClusterTemplate,
            types.ClusterTemplate,
            types.ClusterTemplateCreateRequest,
        )

    @handles(types.ClusterTemplateCreateRequest)
    def create(self, context, request):
        with self.templates.session.begin() as session:
            return self.templates.add(session, request.as_dict())

    @handles(types.ClusterTemplateListRequest)
    def index(self, context, request):
        return self.templates.index(request)

    @handles(types.ClusterTemplateGetRequest)
    def get(self, context, request):
        return self.templates.get(request)

    @handles(types.ClusterTemplateUpdateRequest)
    def update(self, context, request):
        return self.templates.update(request)

    @handles(types.ClusterTemplateDeleteRequest)
    def delete(self, context, request):
        users = sqlalchemy.select(models.Cluster.uuid).where(
            models.Cluster.cluster_template_id == request.uuid
        )
        with self.templates.session.begin() as session:
            row = self.templates.lock(session, request.uuid)
            if user := session.scalar(users.limit(1)):
                raise errors.InUse(
                    f'Cluster {user} uses cluster template {request.uuid}.'
                )
            session.delete(row)


class Clusters:
    """Handle the requests about clusters; they need no time here."""

    def __init__(self, database):
        self.clusters = Collection(
            database,
            models.Cluster,
            types.Cluster,
            types.ClusterCreateRequest,
        )
        self.templates = ClusterTemplates(database).templates

    @handles(types.ClusterCreateRequest)
    def create(self, context, request):
        template = request.cluster_template_id
        properties = {**request.as_dict(), 'status': 'CREATE_COMPLETE'}
        with self.clusters.session.begin() as session:
            self.templates.lock(session, template)
            return self.clusters.add(
                session, properties, cluster_template_id=template
            )

    @handles(types.ClusterListRequest)
    def index(self, context, request):
        return self.clusters.index(request)

    @handles(types.ClusterGetRequest)
    def get(self, context, request):
        return self.clusters.get(request)

    @handles(types.ClusterUpdateRequest)
    def update(self, context, request):
        return self.clusters.update(request, status='UPDATE_COMPLETE')

    @handles(types.ClusterDeleteRequest)
    def delete(self, context, request):
        with self.clusters.session.begin() as session:
            session.delete(self.clusters.lock(session, request.uuid))


def main():
    conf = configuration()
    database = models.connect(conf.database.connection)
    create_tables(database)
    ledger = SqlLedger(database)
    handlers = [ClusterTemplates(database), Clusters(database)]
    ServerProcess(conf, SERVICE, ledger=ledger, handlers=handlers).run()
