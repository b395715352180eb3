# SPDX-License-Identifier: Apache-2.0
"""Requests to an engine, one module per resource.

A request is flat: ``identity`` comes from the path, the other fields from the
body or the query. ``api.routes`` defines this mapping; the types themselves do
not depend on HTTP.

::

    actions    requests about actions
    clusters   requests about clusters
    common     base types that several requests share
    events     requests about events
    nodes      requests about nodes
    policies   requests about policies, policy types and attached policies
    profiles   requests about profiles and profile types
    receivers  requests about receivers, and webhook calls
    services   requests about the service itself
"""
