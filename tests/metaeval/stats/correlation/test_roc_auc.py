"""Mean labels turned into yes or no for ROC AUC."""

import numpy as np
import pytest

from metaeval.stats.correlation.roc_auc import yes_or_no


def test_the_majority_decides_and_a_tie_is_missing():
    answers = yes_or_no(np.array([0, 1 / 3, 0.5, 2 / 3, 1, np.nan]))
    np.testing.assert_array_equal(answers, [0, 0, np.nan, 1, 1, np.nan])


@pytest.mark.parametrize("label", [-0.1, 1.1, 5.0])
def test_labels_outside_0_to_1_are_refused(label):
    with pytest.raises(ValueError, match=rf"labels\[1\] is {label}: .*between 0 and 1"):
        yes_or_no(np.array([0.0, label]))
