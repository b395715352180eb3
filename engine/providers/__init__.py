# SPDX-License-Identifier: Apache-2.0
"""Clouds to create nodes in: entry points of ``vobjects.providers``."""
