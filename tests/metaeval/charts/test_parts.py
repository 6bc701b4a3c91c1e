"""The axes of charts."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from metaeval.charts.parts import nice_range, ticks

numbers = st.floats(-1e6, 1e6, allow_nan=False).map(lambda number: round(number, 6))


@given(st.lists(numbers, min_size=1, max_size=20))
def test_axes_have_round_numbers_that_enclose_all_values(values):
    span = nice_range(np.array(values))
    hair = (span.high - span.low) * 1e-8
    assert span.low <= min(values) + hair
    assert span.high >= max(values) - hair
    assert 2 <= len(ticks(span)) <= 12
