# SPDX-License-Identifier: Apache-2.0
"""Nova's tests of its API samples, with the library and without it.

::

    samples  run the tests, in Nova's own environment
"""
