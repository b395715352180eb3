# SPDX-License-Identifier: Apache-2.0
"""The manifests in the table of members, by digest."""

from __future__ import annotations

from collections.abc import Iterable

import sqlalchemy as sa

from vobjects.objects.manifest import Manifest
from vobjects_sql.columns import Text, read_json
from vobjects_sql.ledger.state import Transaction


class ManifestReader:
    """Reads each manifest once.

    :param members: the table of members
    """

    def __init__(self, members: sa.Table) -> None:
        # As text: a row with invalid JSON must not hide the others.
        self._select = (
            sa.select(sa.type_coerce(members.c.manifest, Text))
            .where(members.c.manifest_digest == sa.bindparam('digest'))
            .distinct()
        )
        #: Digest -> manifest, for the groups of the last view and the members
        #: that have reported to this process.
        self._known: dict[str, Manifest] = {}

    def known(self, digest: str) -> Manifest | None:
        """Return a manifest that this process has already read."""
        return self._known.get(digest)

    def keep(self, manifests: dict[str, Manifest]) -> None:
        """Forget all other manifests, which no member has any more."""
        self._known = manifests

    def find(self, transaction: Transaction, digest: str) -> Manifest | None:
        """Return the manifest with a digest, if a live member has it."""
        manifest = self.known(digest)
        if manifest is not None:
            return manifest
        for text in transaction.scalars(self._select, {'digest': digest}):
            manifest = read_json(
                text,
                lambda content: Manifest.parse(content, 'The text'),
                f'manifest {digest}',
            )
            if manifest is not None:
                self._known = {**self._known, digest: manifest}
                return manifest
        return None

    def find_all(
        self, transaction: Transaction, digests: Iterable[str]
    ) -> dict[str, Manifest]:
        """Return manifests by digest, without those that no member has."""
        return {
            digest: manifest
            for digest in digests
            if (manifest := self.find(transaction, digest)) is not None
        }
