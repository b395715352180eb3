# SPDX-License-Identifier: Apache-2.0
"""Acceptance tests: suites of Senlin's clients, run against this service.

``python -m tests.clients`` installs each suite of ``suites.toml`` from PyPI,
starts a Keystone and the service, and compares the results of the suites with
``expectations.toml``.
"""
