"""BERTScore on tiny encoders."""

import math

import pytest

from scoring.contract.evaluator import Need
from scoring.contract.fingerprints import fingerprint
from scoring.contract.items import Item
from scoring.contract.params import read_params
from scoring.evaluators import load_evaluator
from scoring.weights.model_files import MissingWeights
from tests.scoring.tiny_models import tiny_model

CAT = "The cat sat on the mat."
TALKS = "Officials said on Monday that the talks went on."


def bertscore(kind="roberta", **settings):
    evaluator_class = load_evaluator("bertscore")
    given = {"model": str(tiny_model(kind)), "layer": 2, **settings}
    return evaluator_class(read_params(evaluator_class, given))


def score(items, kind="roberta", **settings):
    evaluator = bertscore(kind, **settings)
    if evaluator.params.idf:
        evaluator.see_corpus(items)
    return evaluator.score(items)


def value(item, kind="roberta", **settings):
    [scored] = score([item], kind, **settings)
    return scored.values["general"]


def by_definition(summary, reference, layer):
    """Return precision and recall of a BERT model, from the library's own tokens and states."""
    import torch
    import transformers

    folder = tiny_model("bert")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder).eval()
    with torch.no_grad():
        one, two = (
            torch.nn.functional.normalize(
                model(**tokenizer(text, return_tensors="pt"), output_hidden_states=True).hidden_states[layer][
                    0
                ],
                dim=-1,
            )
            for text in (summary, reference)
        )
    cosines = one @ two.T
    return cosines.amax(dim=1)[1:-1].mean().item(), cosines.amax(dim=0)[1:-1].mean().item()


@pytest.mark.parametrize("layer", [0, 1, 3])
def test_score_averages_the_nearest_cosines_without_special_tokens(layer):
    item = Item("a", CAT, references=(TALKS,))
    precision, recall = by_definition(CAT, TALKS, layer)
    found = {name: value(item, "bert", layer=layer, measure=name) for name in ("precision", "recall", "f1")}
    assert found["precision"] == pytest.approx(precision, abs=1e-6)
    assert found["recall"] == pytest.approx(recall, abs=1e-6)
    assert found["f1"] == pytest.approx(2 * precision * recall / (precision + recall), abs=1e-6)


def test_several_references_give_their_best_mean_or_first_value_per_measure():
    references = (TALKS, "The cat.", "It was a good mat, and the cat liked it.")
    for measure in ("precision", "recall", "f1"):
        alone = [value(Item("a", CAT, references=(each,)), measure=measure) for each in references]
        item = Item("a", CAT, references=(*references, " "))
        assert value(item, measure=measure) == pytest.approx(max(alone), abs=1e-6)
        assert value(item, measure=measure, references="mean") == pytest.approx(sum(alone) / 3, abs=1e-6)
        assert value(item, measure=measure, references="first") == pytest.approx(alone[0], abs=1e-6)


def test_first_word_has_a_space_before_it_unless_bare():
    item = Item("a", "cat", references=("The cat",))
    assert value(item, layer=0, measure="precision", first_word="bare") < 0.99
    other = Item("b", " \n cat ", references=("The cat",))
    assert value(item, layer=0, measure="precision") == pytest.approx(
        value(other, layer=0, measure="precision"), abs=1e-6
    )


def test_idf_lowers_the_weight_of_words_in_every_reference():
    items = [
        Item("a", "The cat sat.", references=("The talks went.",)),
        Item("b", "The cat sat.", references=("The shares fell.",)),
    ]
    plain, weighed = (score(items, idf=idf, measure="recall")[0].values["general"] for idf in (False, True))
    assert plain != pytest.approx(weighed, abs=1e-4)


def test_text_without_idf_weight_is_not_scored():
    items = [Item("a", CAT, references=("...",)), Item("b", CAT, references=("... Yes.",))]
    first, second = score(items, "bert", idf=True)
    assert "no token" in first.reasons["general"]
    assert math.isfinite(second.values["general"])
    [both] = score([Item("a", CAT, references=("...", "... Yes."))], "bert", idf=True)
    assert math.isfinite(both.values["general"])
    [alone] = score([Item("a", CAT, references=("... Yes.",))], "bert", idf=True)
    assert "no token" in alone.reasons["general"], "a corpus of one text gives every token weight 0"


def test_only_idf_needs_the_other_texts_of_the_run():
    evaluator_class = load_evaluator("bertscore")
    for idf in (False, True):
        params = bertscore(idf=idf).params
        assert (Need.CORPUS in evaluator_class.needs_for(params)) == idf


@pytest.fixture
def baseline(tmp_path):
    path = tmp_path / "baseline.tsv"
    path.write_text("LAYER,P,R,F\n0,0.1,0.1,0.1\n1,0.2,0.2,0.2\n2,0.3,0.4,0.5\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(("measure", "zero"), [("precision", 0.3), ("recall", 0.4), ("f1", 0.5)])
def test_rescaling_maps_the_layers_baseline_to_zero(baseline, measure, zero):
    item = Item("a", CAT, references=(TALKS,))
    raw = value(item, measure=measure)
    rescaled = value(item, measure=measure, baseline=str(baseline))
    assert rescaled == pytest.approx((raw - zero) / (1 - zero), abs=1e-6)


def test_empty_summary_is_not_scored_with_rescaling(baseline):
    found = score(
        [Item("a", " ", references=(CAT,)), Item("b", CAT, references=("", " ")), Item("c", CAT)],
        baseline=str(baseline),
    )
    assert [each.reasons["general"] for each in found] == ["empty summary", "no reference", "no reference"]


def test_text_without_any_token_is_not_scored():
    for item in (Item("a", "\ufffd", references=(CAT,)), Item("a", CAT, references=("\ufffd",))):
        for measure in ("precision", "recall", "f1"):
            [scored] = score([item], "bert", measure=measure)
            assert "no token" in scored.reasons["general"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("LAYER,P,R\n2,0.1,0.1\n", "no table of baselines"),
        ("LAYER,P,R,F\n2,a,b,c\n", "no table of baselines"),
        ("LAYER,P,R,F\n1,0.1,0.1,0.1\n", "for layer 2"),
        ("LAYER,P,R,F\n2,1,1,1\n", "below 1 for layer 2"),
    ],
)
def test_invalid_baseline_table_is_refused(tmp_path, content, message):
    path = tmp_path / "table.tsv"
    path.write_text(content)
    with pytest.raises(MissingWeights, match=message):
        score([Item("a", CAT, references=(TALKS,))], baseline=str(path))


def test_baseline_table_is_part_of_the_fingerprint(baseline):
    before = fingerprint(bertscore(baseline=str(baseline)))
    baseline.write_text("LAYER,P,R,F\n2,0.3,0.4,0.25\n", encoding="utf-8")
    assert fingerprint(bertscore(baseline=str(baseline))) != before


def test_unknown_models_need_a_layer():
    with pytest.raises(ValueError, match=r"'layer'.* chose none"):
        bertscore(layer=-1)
    evaluator_class = load_evaluator("bertscore")
    read_params(evaluator_class, {})
    read_params(evaluator_class, {"model": "google-bert/bert-base-multilingual-cased@main"})


def test_layer_beyond_the_model_is_refused():
    with pytest.raises(MissingWeights, match="has 3 layers, so there is no 4"):
        score([Item("a", CAT, references=(TALKS,))], layer=4)


def test_a_long_article_is_cut_or_read_in_parts():
    item = Item("a", CAT, article=f"{TALKS} " * 100 + CAT)
    [cut] = score([item], against="article", layer=0, measure="precision")
    assert 0 < cut.shares_read["article"] < 1
    [parts] = score([item], against="article", long_article="parts", layer=0, measure="precision")
    assert not parts.shares_read
    assert parts.values["general"] > cut.values["general"]


def test_scores_do_not_depend_on_other_summaries():
    long = Item("long", "word " * 900, references=(f"{CAT} " * 60,))
    item = Item("a", CAT, references=(TALKS, "Really? Yes."))
    evaluator = bertscore()
    [alone] = evaluator.score([item])
    for items in ([item, long], [Item("b", "No.", references=item.references), item], [item]):
        together = dict(zip([each.id for each in items], evaluator.score(items), strict=True))["a"]
        assert together.values["general"] == pytest.approx(alone.values["general"], abs=1e-6)


def test_many_summaries_of_one_article_are_matched_in_limited_pieces(monkeypatch):
    from scoring.neural import greedy_matching

    items = [Item(str(n), f"{CAT} " * (n + 1), references=(TALKS, CAT)) for n in range(9)]
    whole = [each.values["general"] for each in score(items)]
    monkeypatch.setattr(greedy_matching, "PRODUCT", 500)
    monkeypatch.setattr(greedy_matching, "ROUND", 100)
    monkeypatch.setattr(greedy_matching, "REMEMBERED_BYTES", 1000)
    assert [each.values["general"] for each in score(items)] == pytest.approx(whole, abs=1e-6)
