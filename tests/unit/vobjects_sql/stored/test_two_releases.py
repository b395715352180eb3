# SPDX-License-Identifier: Apache-2.0
"""Ten rollbacks between the real code of two releases, in two processes."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys

#: What both releases share: the table and the ten databases.
SHARED = """
import json, random, sys
import sqlalchemy
import vobjects
from vobjects import added, fields
from vobjects_sql import stored
from vobjects.objects.manifest import local

{types}

cap = {{}}
metadata = sqlalchemy.MetaData()
jobs = sqlalchemy.Table(
    'jobs', metadata,
    sqlalchemy.Column('id', sqlalchemy.Integer, primary_key=True),
    sqlalchemy.Column(
        'job', stored.StoredObject(Job, lambda: cap, {release!r})),
    stored.versions_column('job', 'job_versions'),
)
OLD = {{'Job': '1.0', 'Tool': '1.0'}}

def connect(number):
    url = f'sqlite:///{{sys.argv[1]}}/{{number}}.sqlite'
    return sqlalchemy.create_engine(url).connect()
"""

OLD_TYPES = """
@vobjects.register
class Tool(vobjects.Object):
    fields = {'name': fields.StringField()}

@vobjects.register
class Job(vobjects.Request):
    fields = {'tool': fields.ObjectField('Tool', nullable=True)}
"""

NEW_TYPES = """
@vobjects.register
class Tool(vobjects.Object):
    VERSION = '1.1'
    fields = {
        'name': fields.StringField(),
        'size': added('1.1', fields.IntegerField(default=1)),
    }

@vobjects.register
class Job(vobjects.Request):
    VERSION = '1.1'
    VERSION_MAP = {'1.2': '1.1'}
    fields = {
        'tool': fields.ObjectField('Tool', nullable=True),
        'force': added('1.1', fields.BooleanField(default=False)),
    }
"""

#: The upgrade: rows at the cap before and after the last old process left.
UPGRADE = """
from vobjects_sql.stored import scan, verdict
draw = random.Random(6)
answers = []
for number in range(10):
    with connect(number) as connection:
        metadata.create_all(connection)
        for row in range(3):
            cap = draw.choice([OLD, OLD, OLD, dict(local())])
            tool = Tool(name='t') if draw.random() < 0.5 else None
            connection.execute(
                jobs.insert().values(job=Job(tool=tool)))
        connection.commit()
        census = scan.scan(
            connection,
            stored.StoredColumn(jobs.c.job),
            limit=100,
            count_limit=100,
        )
        answers.append(verdict.decide('r1', OLD, [census]).can_roll_back)
print(json.dumps(answers))
"""

ROLLBACK = """
answers = []
for number in range(10):
    with connect(number) as connection:
        try:
            connection.execute(sqlalchemy.select(jobs.c.job)).all()
            answers.append(True)
        except stored.StoredTooNew as error:
            assert 'a newer release than r1' in str(error), error
            answers.append(False)
print(json.dumps(answers))
"""


def run(
    types: str, release: str, steps: str, databases: pathlib.Path
) -> list[bool]:
    code = SHARED.format(types=types, release=release) + steps
    done = subprocess.run(
        [sys.executable, '-c', code, databases],
        stdout=subprocess.PIPE,
        check=True,
    )
    answers: list[bool] = json.loads(done.stdout)
    return answers


def test_verdict_is_what_the_older_release_then_finds(
    tmp_path: pathlib.Path,
) -> None:
    foretold = run(NEW_TYPES, 'r2', UPGRADE, tmp_path)
    found = run(OLD_TYPES, 'r1', ROLLBACK, tmp_path)
    assert foretold == found
    assert set(found) == {True, False}
