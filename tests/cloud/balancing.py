# SPDX-License-Identifier: Apache-2.0
"""Octavia."""

from __future__ import annotations

import flask

from tests import cloud as fake


def serve(app: flask.Flask, cloud: fake.Cloud) -> None:
    """Add the API."""
