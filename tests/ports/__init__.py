# SPDX-License-Identifier: Apache-2.0
"""Tests of the services in ``ports`` as running processes."""
