# SPDX-License-Identifier: Apache-2.0
"""Run an engine: ``python -m digests.engine FILE``."""

import hashlib
import os
import sys

import sqlalchemy

from digests import types
from digests.service import SERVICE, configuration
from vobjects.rpc import ServerProcess, handles
from vobjects_sql.ledger import SqlLedger, create_tables


class Digests:
    """Handle the requests of the API."""

    @handles(types.DigestRequest)
    def compute(self, context, request):
        algorithm = getattr(request, 'algorithm', 'sha256')
        digest = hashlib.new(algorithm, request.text.encode())
        response = types.Digest(value=digest.hexdigest(), process=os.getpid())
        if 'algorithm' in types.Digest.fields:
            response.algorithm = algorithm
        return response


if __name__ == '__main__':
    conf = configuration(sys.argv[1])
    database = sqlalchemy.create_engine(conf.database.connection)
    create_tables(database)
    ledger = SqlLedger(database)
    ServerProcess(conf, SERVICE, ledger=ledger, handlers=[Digests()]).run()
