"""Complete rows, and the reasons for leaving out others."""

import numpy as np

from metaeval.stats.scores.complete_rows import complete_rows


def test_a_row_with_two_reasons_counts_only_under_the_first():
    kept, left_out = complete_rows(
        {
            "first": np.array([True, True, False, False]),
            "second": np.array([True, False, True, False]),
            "never": np.zeros(4, dtype=bool),
        }
    )
    assert kept.tolist() == [False, False, False, True]
    assert left_out == {"first": 2, "second": 1}
