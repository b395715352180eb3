# SPDX-License-Identifier: Apache-2.0
"""Import the database of OpenStack Senlin.

The tables of both services are alike, so most rows are copied, with their IDs.
The import reads from Senlin's database and writes all resources in one
transaction. It can be repeated: resources that exist already are skipped.

Senlin must not run: two services would manage the same servers.
"""

from __future__ import annotations

import collections
import dataclasses
import datetime
import functools
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy
from oslo_config import cfg
from sqlalchemy import orm

from engine import senlin_tables as tables
from engine.db import credentials, database, models, statements
from engine.policies import base as policies
from engine.policies import load_balancing
from engine.profiles import base as profiles
from engine.trusts import conf as trusts_conf
from engine.trusts import encryption, keystone
from vobjects import exceptions
from vobjects.clustering import consts, errors

#: Seconds for which Senlin's processes count as running after they updated
#: their row; the default of its option ``periodic_interval`` is 60.
ALIVE_FOR = 130.0

#: Maximum number of problems of one kind that are listed.
MAX_LISTED = 10

_ENDED = tuple(consts.ACTION_ENDS)


@dataclasses.dataclass
class Report:
    """The result of an import, or of a dry run.

    :ivar problems: reasons why nothing can be imported
    :ivar notes: advice for the operator
    :ivar counts: kind of row -> numbers of new and of existing rows
    """

    problems: list[str] = dataclasses.field(default_factory=list)
    notes: list[str] = dataclasses.field(default_factory=list)
    counts: dict[str, tuple[int, int]] = dataclasses.field(
        default_factory=dict
    )


class SenlinImport:
    """An import from one database.

    :param url: URL of Senlin's database
    :param conf: configuration of this service
    :param target: database of this service
    :param profile_types: the installed types
    :param policy_types: the installed types
    :raises vobjects.exceptions.Unreachable: the server does not answer
    :raises engine.db.database.UnusableError: the URL is invalid, or its driver
        is missing
    :raises engine.senlin_tables.NotSenlinError: a table or a column is missing
    """

    def __init__(
        self,
        url: str,
        conf: cfg.ConfigOpts,
        target: database.Database,
        profile_types: profiles.Registry,
        policy_types: policies.Registry,
    ) -> None:
        self._conf, self._target = conf, target
        self._profile_types, self._policy_types = profile_types, policy_types
        self._senlin = tables.connect(url)
        self.report = Report()

    def close(self) -> None:
        """Close the connections to Senlin's database."""
        self._senlin.dispose()

    def check(self) -> None:
        """Look for reasons why the import is impossible."""
        with self._senlin.connect() as senlin:
            self._check_values(senlin)
            if self.report.problems:
                return
            self._check_stopped(senlin)
            self._check_specs(senlin, tables.PROFILES, self._profile_types)
            self._check_specs(senlin, tables.POLICIES, self._policy_types)
            self._check_references(senlin)

    def run(self, *, history: bool, dry_run: bool = False) -> None:
        """Import the resources.

        :param history: whether to import ended actions and events, too
        :param dry_run: only count them
        """
        trusts = self._read_trusts()
        with self._senlin.connect() as senlin:
            self._note_webhooks(senlin)
            self._target.write(
                lambda session: self._write(
                    senlin, session, trusts, dry_run=dry_run
                )
            )
            for source in tables.HISTORY if history else ():
                self._copy_history(senlin, source, dry_run=dry_run)

    # Checks

    def _check_values(self, senlin: sqlalchemy.Connection) -> None:
        invalid = [
            f'{source.name} {row["id"]}: {fault}'
            for source in (*tables.RESOURCES, *tables.HISTORY)
            for batch in tables.batches(senlin, source.query())
            for row in batch
            for fault in source.faults(row)
        ]
        self._problem(
            'Senlin has values that are not valid; correct the rows or delete'
            ' them',
            invalid,
        )

    def _check_stopped(self, senlin: sqlalchemy.Connection) -> None:
        now = datetime.datetime.now(datetime.UTC)
        running = [
            f'{row.binary} on {row.host}'
            for row in senlin.execute(sqlalchemy.select(tables.SERVICES))
            if row.updated_at is not None
            and (now - row.updated_at).total_seconds() < ALIVE_FOR
        ]
        self._problem(
            f'Senlin was running less than {ALIVE_FOR:g} seconds ago; stop it'
            ' and wait',
            running,
        )
        unfinished = [
            f'{row.action} {row.id} ({row.status})'
            for row in senlin.execute(
                tables.ACTIONS.query().where(
                    sqlalchemy.column('status').not_in(_ENDED)
                )
            )
        ]
        self._problem(
            'Senlin has unfinished actions; wait for them or cancel them',
            unfinished,
        )

    def _check_specs(
        self, senlin: sqlalchemy.Connection, source: tables.Source, types: Any
    ) -> None:
        bad = []
        for row in senlin.execute(source.query()):
            try:
                types.check_spec(row.spec or {})
            except errors.ClusteringError as error:
                bad.append(f'{row.name} ({row.id}): {error.message}')
        self._problem(
            f'{source.label} that this service does not support; delete them'
            ' in Senlin',
            bad,
        )

    def _check_references(self, senlin: sqlalchemy.Connection) -> None:
        existing: dict[tables.Source, set[str]] = {
            source: set(
                senlin.scalars(
                    source.query().with_only_columns(sqlalchemy.column('id'))
                )
            )
            for source in (tables.PROFILES, tables.CLUSTERS, tables.POLICIES)
        }
        for source, attribute, referenced in (
            (tables.CLUSTERS, 'profile_id', tables.PROFILES),
            (tables.NODES, 'profile_id', tables.PROFILES),
            (tables.NODES, 'cluster_id', tables.CLUSTERS),
            (tables.BINDINGS, 'cluster_id', tables.CLUSTERS),
            (tables.BINDINGS, 'policy_id', tables.POLICIES),
            (tables.RECEIVERS, 'cluster_id', tables.CLUSTERS),
        ):
            query: Any = source.query().with_only_columns(
                sqlalchemy.column('id'), sqlalchemy.column(attribute)
            )
            self._problem(
                f'{source.label} whose {attribute} does not exist; delete'
                ' them in Senlin',
                [
                    id_
                    for id_, reference in senlin.execute(query)
                    if reference and reference not in existing[referenced]
                ],
            )

    def _problem(self, text: str, items: Sequence[str]) -> None:
        if not items:
            return
        # Users choose the names.
        listed = ', '.join(
            exceptions.message_text(item).replace('\n', '?')
            for item in items[:MAX_LISTED]
        )
        more = len(items) - MAX_LISTED
        end = f', and {more} more' if more > 0 else ''
        self.report.problems.append(f'{text}: {listed}{end}')

    # Resources

    def _write(
        self,
        senlin: sqlalchemy.Connection,
        session: orm.Session,
        trusts: Mapping[str, _Trust],
        *,
        dry_run: bool,
    ) -> None:
        imported = {
            source: self._copy(senlin, session, source, dry_run=dry_run)
            for source in tables.RESOURCES
        }
        if dry_run:
            return
        self._bind_policies(session, imported[tables.BINDINGS])
        self._store_trusts(session, trusts, imported[tables.RECEIVERS])

    def _copy(
        self,
        senlin: sqlalchemy.Connection,
        session: orm.Session,
        source: tables.Source,
        *,
        dry_run: bool,
    ) -> list[tables.Row]:
        """Copy the rows of a table, and return those that are new."""
        new: list[tables.Row] = []
        total = 0
        for batch in tables.batches(senlin, source.query()):
            new += _copy_batch(session, source, batch, dry_run=dry_run)
            total += len(batch)
        self.report.counts[source.label] = len(new), total - len(new)
        return new

    def _copy_history(
        self,
        senlin: sqlalchemy.Connection,
        source: tables.Source,
        *,
        dry_run: bool,
    ) -> None:
        """Copy the rows of a long table, in one transaction for each batch."""
        new = total = 0
        for batch in tables.batches(senlin, source.query()):
            copy = functools.partial(
                _copy_batch, source=source, batch=batch, dry_run=dry_run
            )
            new += len(self._target.write(copy))
            total += len(batch)
        self.report.counts[source.label] = new, total - new

    def _bind_policies(
        self, session: orm.Session, bindings: Sequence[tables.Row]
    ) -> None:
        """Complete what attaching a policy stores besides the binding."""
        for row in bindings:
            binding = session.get_one(models.ClusterPolicy, row['id'])
            policy = session.get_one(models.Policy, binding.policy_id)
            cluster = session.get_one(models.Cluster, binding.cluster_id)
            policy_type = self._policy_types.get(policy.type)
            binding.data = _binding_data(policy_type, binding, cluster)
            properties = self._policy_types.properties_of(
                policy.type, policy.spec
            )
            policy_type.after_bind(
                session,
                policies.AttachedPolicy(policy, binding, properties),
                self._conf,
            )

    # Trusts

    def _read_trusts(self) -> dict[str, _Trust]:
        """Return trust ID -> trust, for those that Keystone accepts."""
        if not trusts_conf.has_account(self._conf):
            self.report.notes.append(
                'The trusts of users were not imported, because [receivers]'
                ' has no account. Webhooks work only if the API does not use'
                ' Keystone.'
            )
            return {}
        account = keystone.KeystoneTrusts(self._conf)
        with self._senlin.connect() as senlin:
            owners = {
                trust: (row['user'], row['project'])
                for row in senlin.execute(
                    sqlalchemy.select(tables.CREDENTIALS)
                ).mappings()
                if (trust := _trust_of(row['cred']))
            }
            actors = {
                trust
                for row in senlin.execute(tables.RECEIVERS.query()).mappings()
                if (trust := _trust_of_actor(row['actor']))
            }
        usable, rejected = {}, 0
        for trust in sorted({*owners, *actors}):
            try:
                token = account.use(trust)
            except keystone.TrustRejected:
                rejected += 1
                continue
            usable[trust] = _Trust(
                owners.get(trust), tuple(sorted(token.role_names or ()))
            )
        if rejected:
            self.report.notes.append(
                f'Keystone rejects {rejected} of {rejected + len(usable)}'
                " trusts with the account of [receivers]. Use Senlin's"
                ' account to keep them. Otherwise, owners of clusters must'
                ' send a request before policies can act for them, and create'
                ' their receivers again.'
            )
        return usable

    def _store_trusts(
        self,
        session: orm.Session,
        trusts: Mapping[str, _Trust],
        receivers: Sequence[tables.Row],
    ) -> None:
        if not trusts:
            return
        encryptor = encryption.Encryptor(self._conf.receivers.encryption_keys)
        for row in receivers:
            trust = _trust_of_actor(row['actor'])
            if trust is not None and trust in trusts:
                credentials.add(
                    session, row['id'], encryptor.encrypt(row['id'], trust)
                )
        known = {
            (row.user, row.project)
            for row in session.scalars(sqlalchemy.select(models.ProjectTrust))
        }
        for trust, details in trusts.items():
            if details.owner is None or details.owner in known:
                continue
            user, project = details.owner
            id_ = models.new_id()
            session.add(
                models.ProjectTrust(
                    id=id_,
                    user=user,
                    project=project,
                    sealed=encryptor.encrypt(id_, trust),
                    roles=list(details.roles),
                )
            )
        self.report.counts['trusts'] = len(trusts), 0

    def _note_webhooks(self, senlin: sqlalchemy.Connection) -> None:
        endpoints = collections.Counter(
            url.partition('/v1/webhooks/')[0]
            for row in senlin.execute(tables.RECEIVERS.query()).mappings()
            if isinstance(url := (row['channel'] or {}).get('alarm_url'), str)
        )
        for endpoint, count in endpoints.most_common():
            self.report.notes.append(
                f'{count} webhook(s) are called at'
                f' {exceptions.message_text(endpoint)}: this address'
                ' must lead to the API.'
            )


@dataclasses.dataclass(frozen=True)
class _Trust:
    """A trust that Keystone accepts.

    :ivar owner: the user and the project, if engines act by it
    """

    owner: tuple[str, str] | None
    roles: tuple[str, ...]


def _trust_of(credential: Any) -> str | None:
    match credential:
        case {'openstack': {'trust': str(trust)}}:
            return trust or None
    return None


def _trust_of_actor(actor: Any) -> str | None:
    match actor:
        case {'trust_id': str(trust)}:
            return trust or None
    return None


def _binding_data(
    policy_type: policies.PolicyType,
    binding: models.ClusterPolicy,
    cluster: models.Cluster,
) -> dict[str, Any]:
    """Return the data of a binding with everything that our policies read."""
    if not isinstance(policy_type, load_balancing.LoadBalancingPolicy):
        return binding.data
    addresses = cluster.data.get('loadbalancers') or {}
    address = addresses.get(binding.policy_id) or {}
    missing = {'listener': None, 'healthmonitor': None, 'preexisting': False}
    wrapper = binding.data[policy_type.data_key]
    return {
        policy_type.data_key: {
            **wrapper,
            'data': {**missing, **address, **wrapper['data']},
        }
    }


def _copy_batch(
    session: orm.Session,
    source: tables.Source,
    batch: Sequence[tables.Row],
    *,
    dry_run: bool,
) -> list[tables.Row]:
    """Insert the rows whose IDs do not exist yet, and return them."""
    table = statements.table(source.model)
    query = sqlalchemy.select(table.c.id, table.c.id).where(
        table.c.id.in_(statements.IDS)
    )
    ids = [row['id'] for row in batch]
    existing = {id_ for id_, _ in statements.pairs(session, query, ids)}
    new = [row for row in batch if row['id'] not in existing]
    if not dry_run:
        statements.insert(session, map(source.new_row, new))
    return new
