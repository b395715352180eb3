# SPDX-License-Identifier: Apache-2.0
"""Contracting revisions, one module each, in numerical order.

Each drops or tightens something that this release no longer uses, but older
releases did. There is none yet; the first will be c001.
"""
