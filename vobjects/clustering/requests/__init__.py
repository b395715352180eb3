# SPDX-License-Identifier: Apache-2.0
"""Requests to an engine, one module per resource.

A request is flat: ``identity`` comes from the path, the other fields from the
body or the query. ``api.routes`` defines this mapping; the types themselves do
not depend on HTTP.
"""
