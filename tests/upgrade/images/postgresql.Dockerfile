# PostgreSQL with the environment variables of the image "postgres".
FROM debian
# Debian's programs otherwise use the port of Debian's database, which depends on
# the machine that made the file system.
ENV PGPORT=5432
SHELL ["/bin/bash", "-c"]
RUN printf '%s\n' \
    '#!/bin/bash' \
    'set -euo pipefail' \
    'bin=$(echo /usr/lib/postgresql/*/bin)' \
    'data=/var/lib/postgresql/data' \
    'if [ ! -e "$data/PG_VERSION" ]; then' \
    '    "$bin/initdb" --auth-local=trust --auth-host=scram-sha-256 \' \
    '        --username="$POSTGRES_USER" --pgdata="$data" \' \
    '        --pwfile=<(echo "$POSTGRES_PASSWORD")' \
    '    echo "host all all all scram-sha-256" >>"$data/pg_hba.conf"' \
    '    "$bin/postgres" --single -D "$data" postgres \' \
    '        <<<"CREATE DATABASE $POSTGRES_DB"' \
    'fi' \
    'exec "$bin/postgres" -D "$data" -c listen_addresses="*"' \
    >/usr/local/bin/run-postgresql \
    && chmod 755 /usr/local/bin/run-postgresql \
    && install -d -o postgres /var/lib/postgresql/data /run/postgresql
USER postgres
CMD ["run-postgresql"]
