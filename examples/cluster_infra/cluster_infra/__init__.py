# SPDX-License-Identifier: Apache-2.0
"""Cluster infrastructure: an API and conductors."""
