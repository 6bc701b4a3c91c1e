"""UMSE on a tiny model with random weights."""

import math
from dataclasses import replace

import pytest

from scoring.contract.evaluator import Need
from scoring.contract.items import Item
from scoring.contract.params import read_params
from scoring.evaluators import load_evaluator
from scoring.neural.joint_encoder import JointEncoder
from scoring.texts.sentences import sentences
from scoring.weights.model_files import MissingWeights
from tests.scoring.joint_models import changed, outputs_by_definition, tiny_umse, tiny_unite

PREFIX = "encoder.prefix_encoder.embedding.weight"
ITEM = Item(
    "a",
    "The cat sat on the mat. It was a good mat. Yes.",
    article="The cat liked it. Officials said so on Monday.",
    references=("The cat liked the mat.", "Officials said on Monday that the talks went on."),
)
OTHER = Item(
    "b", "She paid 3.50 for it!", article="The company's shares fell. " * 20, references=("Really?",)
)
TEXTS = {
    "sum_ref": (ITEM.references[0],),
    "sum_doc": (ITEM.article,),
    "sum_doc_ref": (ITEM.article, ITEM.references[0]),
}


def umse(folder=None, **settings):
    evaluator_class = load_evaluator("umse")
    given = {"model": str(folder or tiny_umse()), "granularity": "whole", **settings}
    return evaluator_class(read_params(evaluator_class, given))


def values(evaluator, *items):
    return [scored.values["general"] for scored in evaluator.score(items)]


def value(item, **settings):
    return values(umse(**settings), item)[0]


def probability(texts):
    no, yes = outputs_by_definition(tiny_umse(), texts)
    return math.exp(yes) / (math.exp(no) + math.exp(yes))


def test_score_equals_the_papers_definition(subtests):
    for scenario in TEXTS:
        with subtests.test(scenario=scenario):
            expected = probability([ITEM.summary, *TEXTS[scenario]])
            assert value(ITEM, scenario=scenario, fusion="none") == pytest.approx(expected, abs=1e-5)


def test_prefix_content_changes_scores_and_its_order_does_not():
    from safetensors.torch import load_file

    prefix = load_file(tiny_umse() / "model.safetensors")[PREFIX]
    turned = changed(tiny_umse(), **{PREFIX: prefix.flip(0).contiguous()})
    assert values(umse(turned), ITEM)[0] == pytest.approx(value(ITEM), abs=1e-5)
    other = changed(tiny_umse(), **{PREFIX: prefix * 0})
    assert abs(values(umse(other), ITEM)[0] - value(ITEM)) > 1e-4


@pytest.mark.parametrize(
    ("fusion", "fused"),
    [
        ("arithmetic_mean", lambda one, two: (one + two) / 2),
        ("geometric_mean", lambda one, two: math.sqrt(one * two)),
        ("min", min),
        ("max", max),
    ],
)
def test_scores_against_article_and_reference_are_fused(fusion, fused):
    one, two = (value(ITEM, scenario=scenario) for scenario in ("sum_ref", "sum_doc"))
    assert abs(one - two) > 1e-3
    assert value(ITEM, fusion=fusion) == pytest.approx(fused(one, two), abs=1e-5)


@pytest.mark.parametrize(
    ("scenario", "needs"),
    [
        ("sum_ref", {Need.REFERENCES}),
        ("sum_doc", {Need.ARTICLE}),
        ("sum_doc_ref", {Need.ARTICLE, Need.REFERENCES}),
    ],
)
def test_each_scenario_needs_its_texts_and_reports_missing_ones(scenario, needs):
    evaluator = umse(scenario=scenario)
    assert evaluator.needs_for(evaluator.params) == needs
    without_article, without_reference = replace(ITEM, article=None), replace(ITEM, references=())
    scored = evaluator.score([without_article, without_reference])
    expected = ["no article" if Need.ARTICLE in needs else None]
    expected += ["no reference" if Need.REFERENCES in needs else None]
    assert [each.reasons.get("general") for each in scored] == expected


def test_each_dimension_scores_the_whole_summary_or_its_sentences():
    [scored] = umse(granularity="by_dimension").score([ITEM])
    assert list(scored.values) == ["coherence", "consistency", "fluency", "relevance"]
    whole = pytest.approx(value(ITEM), abs=1e-5)
    by_sentences = pytest.approx(value(ITEM, granularity="sentences"), abs=1e-5)
    assert scored.values["coherence"] == scored.values["relevance"] == whole
    assert scored.values["consistency"] == scored.values["fluency"] == by_sentences
    assert abs(value(ITEM) - value(ITEM, granularity="sentences")) > 1e-4


def test_sentences_have_equal_weight_and_given_ones_replace_the_splitter():
    def mean(texts):
        return sum(value(replace(ITEM, summary=text)) for text in texts) / len(texts)

    found = sentences(ITEM.summary)
    assert len(found) == 3
    assert value(ITEM, granularity="sentences") == pytest.approx(mean(found), abs=1e-5)
    given = ("The cat sat on the mat. It was a good mat.", "Yes.", " ")
    item = replace(ITEM, summary_sentences=given)
    assert value(item, granularity="sentences") == pytest.approx(mean(given[:2]), abs=1e-5)


def test_as_released_normalises_sentences_together_but_not_summaries():
    per_item, released = (
        umse(granularity="by_dimension", layer_norm=norm) for norm in ("per_item", "as_released")
    )

    def scores(evaluator, *items):
        scored = evaluator.score(items)[0].values
        return scored["coherence"], scored["fluency"]

    whole, by_sentences = scores(per_item, ITEM, OTHER)
    assert (whole, by_sentences) == pytest.approx(scores(per_item, ITEM), abs=1e-5)
    released_whole, released_sentences = scores(released, ITEM, OTHER)
    assert (released_whole, released_sentences) == pytest.approx(scores(released, ITEM), abs=1e-5)
    assert released_whole == pytest.approx(whole, abs=1e-5)
    assert abs(released_sentences - by_sentences) > 1e-5


def test_more_than_eight_sentences_are_normalised_in_groups_of_eight():
    texts = tuple(f"The cat sat on {count} mats." for count in range(11))
    item = replace(ITEM, summary=" ".join(texts), summary_sentences=texts)
    parts = [replace(item, summary_sentences=part) for part in (texts[:8], texts[8:])]
    first, second = values(umse(granularity="sentences", layer_norm="as_released"), *parts)
    together = value(item, granularity="sentences", layer_norm="as_released")
    assert together == pytest.approx((8 * first + 3 * second) / 11, abs=1e-5)


def test_empty_summary_can_only_be_scored_as_a_whole():
    empty = replace(ITEM, summary=" ")
    [scored] = umse(granularity="by_dimension").score([empty])
    assert set(scored.reasons.values()) == {"empty summary"}
    [scored] = umse(granularity="by_dimension", empty_summary="score").score([empty])
    assert scored.reasons == {"consistency": "empty summary", "fluency": "empty summary"}
    fused = (probability([" ", *TEXTS["sum_ref"]]) + probability([" ", *TEXTS["sum_doc"]])) / 2
    assert scored.values["coherence"] == pytest.approx(fused, abs=1e-5)


def test_share_read_of_cut_texts_is_reported():
    [scored] = umse().score([replace(ITEM, article="The cat sat. " * 400)])
    assert set(scored.shares_read) == {"article"}
    assert 0 < scored.shares_read["article"] < 0.3


def test_out_of_memory_affects_only_its_item(monkeypatch):
    long = replace(ITEM, id="long", article="The cat sat. " * 400)
    compute = JointEncoder._sums

    def short_of_memory(encoder, sequences):
        if max(map(len, sequences)) > 300:
            raise MemoryError
        return compute(encoder, sequences)

    monkeypatch.setattr(JointEncoder, "_sums", short_of_memory)
    first, second = umse().score([long, ITEM])
    assert first.reasons == {"general": "out of memory"}
    assert second.values["general"] == pytest.approx(value(ITEM), abs=1e-5)


def test_a_model_without_prefix_is_refused():
    with pytest.raises(MissingWeights, match="Is it a UMSE model"):
        umse(tiny_unite()).score([ITEM])
