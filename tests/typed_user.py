"""What a type checker tells users of the public names; mypy reads it, nobody runs it.

Star imports are exempted below because they are what is checked.
"""

from typing import assert_type

import scumble
from scumble.advice import Advice
from scumble.evaluate import *  # noqa: F403
from scumble.learn import *  # noqa: F403

assert_type(scumble.advise(scumble.load("debtags")), Advice)
assert_type(scumble.resample.REMEDIAL(passes=2), scumble.resample.REMEDIAL)
assert_type(macro_f1([[1]], [[1]]), float)  # noqa: F405
assert_type(BinaryRelevance().fit([[1]], [[1]]), BinaryRelevance)  # noqa: F405
