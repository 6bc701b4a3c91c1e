"""BERTScore compared with the authors' package, on every variant of the golden set."""

from dataclasses import replace

import pytest

from tests.scoring.further_cases import with_further
from tests.scoring.parity_sets import evaluator_with, parity_set

MEASURES = {"P": "precision", "R": "recall", "F1": "f1"}
BASELINES = {"model": "baseline.tsv", "model-bert": "baseline-bert.tsv"}


@pytest.fixture(scope="module")
def golden(shared):
    return parity_set(shared, "bertscore")


def settings_of(variant, model, folder):
    layer, texts, weights, *more = variant.split("/")
    return {
        "model": str(folder / model),
        "layer": layer.removeprefix("layer"),
        "against": "article" if texts == "summary_vs_article" else "references",
        "references": "first" if texts == "first_ref" else "max",
        "idf": weights == "idf",
        "baseline": str(folder / BASELINES[model]) if "rescaled" in more else "",
        "first_word": "bare" if "fast_tokenizer" in more else "spaced",
    }


@pytest.mark.parametrize("model", with_further(["model"], BASELINES))
def test_every_variant_equals_the_authors(golden, model, record_property):
    folder, expected, items = golden
    by_id = {each["id"]: each[model] for each in expected["items"]}
    variants = [each for each in by_id[items[0].id] if each.startswith("layer")]
    assert len(variants) >= 15
    largest = 0.0
    for variant in variants:
        tolerance = expected["tolerance"]["abs_rescaled" if "rescaled" in variant else "abs"]
        evaluator = evaluator_with("bertscore", settings_of(variant, model, folder))
        evaluator.see_corpus(items)
        for theirs, ours in MEASURES.items():
            if "rescaled" in variant:
                evaluator = evaluator_with(
                    "bertscore", settings_of(variant, model, folder) | {"measure": ours}
                )
                evaluator.see_corpus(items)
            evaluator.params = replace(evaluator.params, measure=ours)
            for item, scored in zip(items, evaluator.score(items), strict=True):
                wanted = by_id[item.id][variant][theirs]
                if not item.summary.strip():
                    assert scored.reasons == {"general": "empty summary"}
                elif wanted is None:
                    assert "has any weight" in scored.reasons["general"]
                else:
                    found = scored.values["general"]
                    assert found == pytest.approx(wanted, abs=tolerance, rel=0), (variant, theirs, item.id)
                    largest = max(largest, abs(found - wanted))
    record_property("largest_deviation", largest)
    print(f"{model}: {len(variants)} variants, largest deviation {largest:.1e}")


@pytest.mark.parametrize("model", BASELINES)
def test_tokens_equal_the_authors(golden, model):
    from scoring.neural.tokens import TextTokenizer

    folder, expected, items = golden
    tokens = TextTokenizer(folder / model)
    before = " " if tokens.heeds_spaces else ""
    for item, wanted in zip(items, expected["items"], strict=True):
        [summary, article] = tokens.whole(
            [before + item.summary.strip(), before + (item.article or "").strip()], 128
        )
        assert (
            list(summary.ids[:16]) == wanted[model]["tokens"]["summary_first_16"] or not item.summary.strip()
        )
        assert len(article) == wanted[model]["tokens"]["article_n"]
