"""The ROUGE rows of Table 1 of UMSE (Gao et al. 2023) on SummEval, as far as they can be reproduced.

Definition: F1, Porter stemming, mean over the 11 references, ROUGE-L by sentences split at ' . '; Spearman's
rho and Kendall's tau-b per article over 16 systems, then the mean over articles where both are defined.
The figures come from two other implementations of this definition. They differ from the printed ones by at
most .0019, except for ROUGE-1 fluency, where the paper repeats the rho of ROUGE-2.
"""

import gzip
import json
import math
import warnings
from statistics import fmean

import pytest
from scipy.stats import kendalltau, spearmanr

from scoring.contract.evaluator import GENERAL
from scoring.contract.items import Item
from scoring.contract.params import read_params
from scoring.evaluators import load_evaluator
from tests.scoring.further_cases import with_further

DIMENSIONS = ("coherence", "consistency", "fluency", "relevance")
TABLE = {
    "1": ((0.168, 0.126), (0.160, 0.131), (0.116, 0.094), (0.328, 0.253)),
    "2": ((0.184, 0.139), (0.187, 0.155), (0.159, 0.128), (0.290, 0.219)),
    "Lsum": ((0.129, 0.100), (0.114, 0.091), (0.104, 0.084), (0.310, 0.237)),
}


@pytest.fixture(scope="module")
def articles(shared):
    with gzip.open(shared / "data/summeval/expert_means.16systems.jsonl.gz", "rt") as file:
        return [json.loads(line) for line in file]


@pytest.mark.parametrize("variant", with_further(["Lsum"], TABLE))
def test_correlations_equal_the_published_table(articles, variant):
    evaluator_class = load_evaluator("rouge")
    settings = {"variant": variant, "stem": "yes", "references": "mean", "sentences": "period"}
    evaluator = evaluator_class(read_params(evaluator_class, settings))
    coefficients = {dimension: [] for dimension in DIMENSIONS}
    for row in articles:
        systems = list(row["sys_summs"].values())
        items = [
            Item(str(number), each["sys_summ"], references=tuple(row["ref_summs"]))
            for number, each in enumerate(systems)
        ]
        scores = [scored.values[GENERAL] for scored in evaluator.score(items)]
        for dimension in DIMENSIONS:
            human = [each["scores"][dimension] for each in systems]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # an article on which all humans agree has no coefficient
                pair = spearmanr(scores, human).statistic, kendalltau(scores, human).statistic
            if not any(map(math.isnan, pair)):
                coefficients[dimension].append(pair)
    for dimension, published in zip(DIMENSIONS, TABLE[variant], strict=True):
        rho, tau = (fmean(each) for each in zip(*coefficients[dimension], strict=True))
        assert (rho, tau) == pytest.approx(published, abs=0.002), dimension
