# SPDX-License-Identifier: Apache-2.0
"""A service whose new microversion needs only some new engines."""
