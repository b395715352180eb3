# SPDX-License-Identifier: Apache-2.0
"""Run an engine: ``secret-store-engine FILE``."""

import datetime
import logging
import uuid

import sqlalchemy
from sqlalchemy import orm

from secret_store import errors, models, types
from secret_store.service import SERVICE, configuration
from vobjects.rpc import ServerProcess, current_call, handles
from vobjects_sql.ledger import SqlLedger, create_tables


def metadata_of(row):
    """Return a row of a secret as a resource."""
    values = {name: getattr(row, name) for name in types.Secret.fields}
    return types.Secret(**values)


class Secrets:
    """Handle the requests of the API."""

    def __init__(self, database):
        self.session = orm.sessionmaker(database)

    def find(self, session, context, request):
        """Return the row of a secret of the caller's project."""
        row = session.get(models.Secret, request.secret_id)
        if row is None or row.project_id != context['project_id']:
            raise errors.NoSuchSecret(
                f'There is no secret {request.secret_id}.'
            )
        return row

    @handles(types.SecretCreateRequest)
    def create(self, context, request):
        request.obj_set_defaults()
        # The same call may arrive twice; its id leads to the same secret.
        secret_id = str(uuid.uuid5(uuid.NAMESPACE_OID, current_call()))
        with self.session.begin() as session:
            row = session.get(models.Secret, secret_id)
            if row is None:
                row = models.Secret(
                    secret_id=secret_id,
                    project_id=context['project_id'],
                    created=datetime.datetime.now(datetime.UTC),
                    **request.as_dict(),
                )
                session.add(row)
            return metadata_of(row)

    @handles(types.SecretListRequest)
    def index(self, context, request):
        rows = sqlalchemy.select(models.Secret).where(
            models.Secret.project_id == context['project_id']
        )
        page = rows.order_by(models.Secret.created, models.Secret.secret_id)
        count = sqlalchemy.select(sqlalchemy.func.count())
        with self.session() as session:
            return types.SecretPage(
                secrets=[
                    metadata_of(row)
                    for row in session.scalars(
                        page.limit(request.limit).offset(request.offset)
                    )
                ],
                total=session.scalar(count.select_from(rows.subquery())),
            )

    @handles(types.SecretGetRequest)
    def get(self, context, request):
        with self.session() as session:
            return metadata_of(self.find(session, context, request))

    @handles(types.SecretPayloadRequest)
    def payload(self, context, request):
        with self.session() as session:
            row = self.find(session, context, request)
            return types.SecretPayload(payload=row.payload)

    @handles(types.SecretDeleteRequest)
    def delete(self, context, request):
        with self.session.begin() as session:
            session.delete(self.find(session, context, request))


def main():
    logging.basicConfig(level=logging.INFO, format='%(asctime)s %(message)s')
    conf = configuration()
    database = models.connect(conf.database.connection)
    create_tables(database)
    ServerProcess(
        conf, SERVICE, ledger=SqlLedger(database), handlers=[Secrets(database)]
    ).run()
