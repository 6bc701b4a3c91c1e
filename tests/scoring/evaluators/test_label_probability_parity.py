"""SEAHORSE, TRUE and XNLI compared with the published recipe on tiny models."""

from itertools import product

import pytest

from scoring.neural.prompts import Prompts
from scoring.neural.tokens import TextTokenizer
from tests.scoring.further_cases import with_further
from tests.scoring.parity_sets import evaluator_with, parity_set

TOLERANCE = 2e-5
SETS = {"seahorse": "seahorse", "true_nli": "t5_nli", "xnli_mt5": "mt5_xnli"}
VARIANTS = {
    "prob_1_two_labels": {"long_article": "cut_end"},
    "prob_1_full_vocabulary": {"long_article": "cut_end", "measure": "vocabulary"},
    "prob_1_two_sequences": {"long_article": "cut_end", "measure": "sequences"},
    "generated_is_1": {"long_article": "cut_end", "measure": "decision"},
    "prob_1_two_labels_max_length_512": {"long_article": "cut_end", "max_length": "512"},
    "prob_1_two_labels_article_cut": {},
    "prob_1_full_vocabulary_article_cut": {"measure": "vocabulary"},
}
"""Key in expected.json -> parameters. Only items beyond the limit have values for a cut article."""


def recipe(shared, name):
    folder, expected, items = parity_set(shared, SETS[name])
    return folder / "model", expected["items"], items


IN_EACH_RUN = [
    ("prob_1_two_labels", "seahorse"),
    ("prob_1_full_vocabulary", "true_nli"),
    ("prob_1_two_sequences", "xnli_mt5"),
    ("generated_is_1", "seahorse"),
    ("prob_1_two_labels_article_cut", "true_nli"),
]


@pytest.mark.parametrize(("variant", "name"), with_further(IN_EACH_RUN, product(VARIANTS, SETS)))
def test_scores_equal_the_recipes(shared, name, variant, record_property):
    model, expected, items = recipe(shared, name)
    evaluator = evaluator_with(name, {"model": str(model), **VARIANTS[variant]})
    [dimension] = evaluator.dimensions

    deviations = []
    for item, each, scored in zip(items, expected, evaluator.score(items), strict=True):
        if not item.summary:
            assert scored.reasons[dimension] == "empty summary"
        elif variant in each:
            deviations.append(abs(scored.values[dimension] - float(each[variant])))
            if evaluator.params.measure == "decision":
                assert scored.explanations.get(dimension, "") == each["generated_text"].strip()
    assert len(deviations) == (2 if variant.endswith("article_cut") else len(items) - 1)
    record_property("largest deviation", max(deviations))
    assert max(deviations) <= (0 if variant == "generated_is_1" else TOLERANCE)


@pytest.mark.parametrize("name", SETS)
def test_ids_equal_the_recipes(shared, name):
    model, expected, items = recipe(shared, name)
    prompts = Prompts(TextTokenizer(model), "premise: {article} hypothesis: {summary}", 2048, "cut_end")
    found = prompts.of([(item.article, item.summary) for item in items])
    assert [each.inputs for each in found] == [(tuple(each["input_ids"]),) for each in expected]
