"""Rows made from lists, for tests that do not need every column."""

import numpy as np

from metaeval.stats.rows import Rows


def make_rows(labels, scores, articles=None, systems=None, *, yes_no=False):
    """Make rows whose articles and systems are unknown unless given."""
    unknown = np.full(len(labels), -1)
    return Rows(
        labels,
        scores,
        unknown if articles is None else articles,
        unknown if systems is None else systems,
        yes_no,
    )
