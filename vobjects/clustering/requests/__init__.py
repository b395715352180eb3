# SPDX-License-Identifier: Apache-2.0
"""What a client may ask of an engine, one module a resource.

A request is flat: ``identity`` comes from the path, the rest from the body
or the query. ``api.routes`` says which; nothing here knows HTTP.
"""
