# SPDX-License-Identifier: Apache-2.0
"""Match tenants' regular expressions with RE2, in linear time.

RE2 has neither look-around nor back-references. In return, the size of a
compiled expression is bounded, and the duration of a search is proportional to
the length of the text. RE2 releases the GIL while it compiles and searches.
"""

from __future__ import annotations

from typing import Any

import re2

#: Maximum length of an expression in characters.
MAX_LENGTH = 1000

#: Maximum bytes of a compiled expression; RE2's default is 8 MiB. This is
#: enough for ``x{1000}``. It also limits a search of 64 kB to about 0.3 s.
MAX_MEMORY = 32 * 1024

SUPPORTED = (
    'use the syntax of RE2, without look-around and back-references, see'
    ' https://github.com/google/re2/wiki/Syntax'
)


class PatternError(Exception):
    """An expression cannot be compiled; the message is for users."""


def check(pattern: str) -> None:
    """Check that an expression can be compiled.

    :raises PatternError: it is too long, too large or not supported
    """
    if len(pattern) > MAX_LENGTH:
        raise PatternError(f'must have at most {MAX_LENGTH} characters')
    _compile(pattern)


def matches(pattern: str, text: str) -> bool:
    """Return whether an expression matches anywhere in a text.

    :raises PatternError: it cannot be compiled
    """
    check(pattern)
    return _compile(pattern).search(text.encode(errors='replace')) is not None


def _compile(pattern: str) -> Any:
    options = re2.Options()
    options.max_mem = MAX_MEMORY
    options.never_capture = True
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0].decode(errors='replace')
    except UnicodeEncodeError:
        reason = 'a surrogate is not a character'
    finally:
        # Otherwise, the package would keep the last 128 compiled expressions.
        re2.purge()
    raise PatternError(
        f'unsupported regular expression: {reason}; {SUPPORTED}'
    )
