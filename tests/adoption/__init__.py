# SPDX-License-Identifier: Apache-2.0
"""The object trees of existing services, adopted and compared.

``make test-adopt`` runs this for each service in a separate environment,
because services pin conflicting dependencies. Every registered type is filled
with values, converted to primitives at each of its versions, read, cloned and
checked for changes: first the original class, then the adopted one. The
results, including errors, must be equal, and so must the fingerprints. The
fingerprints must also equal those recorded in the service's own tests.
"""
