# SPDX-License-Identifier: Apache-2.0
"""Clouds that nodes are made in: entry points of ``vobjects.providers``."""
