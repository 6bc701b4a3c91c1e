"""UniTE on a tiny model with random weights."""

import math
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file

from scoring.contract.items import Item
from scoring.contract.params import read_params
from scoring.evaluators import load_evaluator
from scoring.weights.model_files import MissingWeights
from tests.scoring.joint_models import changed, outputs_by_definition, tiny_umse, tiny_unite

ITEM = Item(
    "a",
    "The cat sat on the mat.",
    article="It was a good mat, and the cat liked it. Officials said so.",
    references=("The cat liked the mat.", "Officials said on Monday that the talks went on."),
)
OTHER = Item(
    "b", "She paid 3.50 for it!", article="The company's shares fell. " * 20, references=("Really?",)
)
SCENARIOS = {
    "src_ref": (ITEM.article, ITEM.references[0]),
    "src": (ITEM.article,),
    "ref": ITEM.references[:1],
}


def unite(folder=None, **settings):
    evaluator_class = load_evaluator("unite")
    given = {"model": str(folder or tiny_unite()), **settings}
    return evaluator_class(read_params(evaluator_class, given))


def values(evaluator, *items):
    return [scored.values["general"] for scored in evaluator.score(items)]


def value(item, **settings):
    return values(unite(**settings), item)[0]


def defined(texts, **how):
    [number] = outputs_by_definition(tiny_unite(), texts, **how)
    return number


def test_score_equals_the_papers_definition(subtests):
    for scenario in SCENARIOS:
        with subtests.test(scenario=scenario):
            assert value(ITEM, scenario=scenario) == pytest.approx(
                defined([ITEM.summary, *SCENARIOS[scenario]]), abs=1e-5
            )


@pytest.mark.parametrize(
    ("settings", "how"),
    [({"attention": "regional"}, {"regional": True}), ({"positions": "restart"}, {"restart": True})],
)
def test_attention_can_be_regional_and_positions_can_restart(settings, how):
    expected = defined([ITEM.summary, *SCENARIOS["src_ref"]], **how)
    assert value(ITEM, **settings) == pytest.approx(expected, abs=1e-5)
    assert abs(value(ITEM) - expected) > 1e-4


def test_scores_do_not_depend_on_other_summaries():
    assert values(unite(), OTHER, ITEM, OTHER)[1] == pytest.approx(value(ITEM), abs=1e-5)


def test_empty_summary_is_unscored_or_scored_like_the_authors():
    empty = replace(ITEM, summary="")
    [scored] = unite().score([empty])
    assert scored.reasons == {"general": "empty summary"}
    expected = defined(["", *SCENARIOS["src_ref"]])
    assert value(empty, empty_summary="score") == pytest.approx(expected, abs=1e-5)


def test_missing_texts_give_reasons(subtests):
    for summary in ["The cat sat.", ""]:
        more_cases = [
            ("src", {"article": " "}, "no article"),
            ("src_ref", {"article": None}, "no article"),
            ("ref", {"references": (" ",)}, "no reference"),
            ("src_ref", {"references": ()}, "no reference"),
        ]
        for scenario, lacks, reason in more_cases:
            with subtests.test(scenario=scenario, lacks=lacks, reason=reason, summary=summary):
                [scored] = unite(scenario=scenario, empty_summary="score").score(
                    [replace(ITEM, summary=summary, **lacks)]
                )
                assert scored.reasons == {"general": reason}


def test_several_references_give_their_first_mean_or_highest_score():
    each = [value(replace(ITEM, references=(text,))) for text in ITEM.references]
    item = replace(ITEM, references=(" ", *ITEM.references))
    assert value(item) == pytest.approx(each[0], abs=1e-5)
    assert value(item, references="mean") == pytest.approx(sum(each) / 2, abs=1e-5)
    assert value(item, references="max") == pytest.approx(max(each), abs=1e-5)


def test_share_read_of_cut_texts_is_reported():
    [scored] = unite().score([replace(ITEM, article="The cat sat. " * 400)])
    assert set(scored.shares_read) == {"article"}
    assert 0.1 < scored.shares_read["article"] < 0.3
    [whole] = unite().score([ITEM])
    assert not whole.shares_read


def test_training_settings_are_followed_or_refused():
    name = "unite_hparams.json"
    shorter = changed(tiny_unite(), settings=(name, {"max_concat_length": 30}))
    assert unite(shorter).score([ITEM])[0].shares_read
    bounded = changed(tiny_unite(), settings=(name, {"final_activation": "Sigmoid"}))
    assert values(unite(bounded), ITEM)[0] == pytest.approx(1 / (1 + math.exp(-value(ITEM))), abs=1e-5)
    pooled = changed(tiny_unite(), settings=(name, {"pool": "avg"}))
    with pytest.raises(MissingWeights, match='says pool is "avg"'):
        unite(pooled).score([ITEM])
    unknown = changed(tiny_unite(), settings=(name, {"activations": "Tangent"}))
    with pytest.raises(MissingWeights, match="no activation"):
        unite(unknown).score([ITEM])


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("layerwise_attention.scalar_parameters.3", r"lack layerwise_attention\.scalar_parameters\.3"),
        ("layerwise_attention.gamma", r"lack layerwise_attention\.gamma"),
        ("encoder.model.encoder.layer.2.output.dense.bias", "do not fit"),
        ("estimator.ff.6.bias", "do not fit"),
    ],
)
def test_missing_weight_is_refused(missing, message):
    with pytest.raises(MissingWeights, match=message):
        unite(changed(tiny_unite(), **{missing: None})).score([ITEM])


def test_weights_of_further_layers_in_the_mix_are_refused():
    """The softmax is over all of them, so leaving one out changes the others' shares."""
    further = {"layerwise_attention.scalar_parameters.4": torch.zeros(1)}
    with pytest.raises(MissingWeights, match=r"no place, such as layerwise_attention\.scalar_parameters\.4"):
        unite(changed(tiny_unite(), **further)).score([ITEM])


def test_copy_in_float16_is_read_though_a_fill_that_plays_no_part_is_infinite():
    fill = {"layerwise_attention.dropout_fill": torch.full((4,), -1e20)}
    tensors = load_file(tiny_unite() / "model.safetensors") | fill
    half = {name: each.half() if each.is_floating_point() else each for name, each in tensors.items()}
    assert half["layerwise_attention.dropout_fill"].isinf().all()
    [expected] = values(unite(), ITEM)
    assert values(unite(changed(tiny_unite(), **half)), ITEM) == [pytest.approx(expected, abs=0.01)]


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("encoder.model.encoder.layer.0.intermediate.dense.weight", "T", "is 32 x 48, and 48 x 32 is needed"),
        ("estimator.ff.3.weight", "T", "is 12, and 24 is needed"),
        ("estimator.ff.3.weight", "first row", r"no matrix estimator\.ff\.3\.weight"),
        ("estimator.ff.3.weight", "none", r"no matrix estimator\.ff\.3\.weight"),
    ],
)
def test_tensor_of_another_shape_is_refused(name, change, message):
    tensor = load_file(tiny_unite() / "model.safetensors")[name]
    changes = {"T": tensor.T.contiguous(), "first row": tensor[0].contiguous(), "none": None}
    with pytest.raises(MissingWeights, match=message):
        unite(changed(tiny_unite(), **{name: changes[change]})).score([ITEM])


def test_model_of_another_metric_is_refused():
    with pytest.raises(MissingWeights, match="it is no UniTE"):
        unite(tiny_umse()).score([ITEM])
