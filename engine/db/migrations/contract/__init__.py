# SPDX-License-Identifier: Apache-2.0
"""Contracting revisions, one module each, in the order of their numbers.

Each drops or tightens what this release does not use any more, and the
releases before it did: c001 follows when something first has to go.
"""
