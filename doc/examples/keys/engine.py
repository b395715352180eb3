# SPDX-License-Identifier: Apache-2.0
"""Run an engine: ``python -m keys.engine FILE``."""

import sys

import sqlalchemy

from keys import errors, types
from keys.service import SERVICE, configuration
from vobjects.rpc import ServerProcess, handles
from vobjects_sql.ledger import SqlLedger, create_tables


class Keys:
    """Handle the requests of the API."""

    def __init__(self):
        self.keys = {}

    @handles(types.KeyCreateRequest)
    def create(self, context, request):
        key = types.Key(name=request.name, note=request.note)
        self.keys[request.name] = key
        return key

    @handles(types.KeyGetRequest)
    def get(self, context, request):
        if request.name not in self.keys:
            raise errors.NoSuchKey(f'There is no key {request.name!r}.')
        return self.keys[request.name]


if __name__ == '__main__':
    conf = configuration(sys.argv[1])
    database = sqlalchemy.create_engine(conf.database.connection)
    create_tables(database)
    ledger = SqlLedger(database)
    ServerProcess(conf, SERVICE, ledger=ledger, handlers=[Keys()]).run()
