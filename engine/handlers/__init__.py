# SPDX-License-Identifier: Apache-2.0
"""Answers to requests, one module a resource.

A handler reads the database, or changes it in one transaction and queues an
action. What a caller may see is decided here: rows of the caller's project,
and for an administrator who says so, those of all projects.
"""
