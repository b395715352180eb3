# SPDX-License-Identifier: Apache-2.0
"""The object trees of existing services, adopted and compared.

``make test-adopt`` runs this for each service in an environment of its own,
because services pin what others cannot use. Every registered type is filled
with values, then carried to primitives at each of its versions, read again,
cloned and asked for changes: first as the service has it, then adopted. The
outcomes, errors among them, must be equal. So must be the fingerprints, also
with those that the service's own tests record.
"""
