# SPDX-License-Identifier: Apache-2.0
"""The provider against a cloud that is served by HTTP: see tests.cloud."""
