"""BERTScore beside the numbers that the authors' package gives, on every variant of the golden set."""

import json

import pytest

from scoring.contract import Item
from scoring.evaluators import load_evaluator
from scoring.params import read_params

MEASURES = {"P": "precision", "R": "recall", "F1": "f1"}
BASELINES = {"model": "baseline.tsv", "model-bert": "baseline-bert.tsv"}


@pytest.fixture(scope="module")
def golden(shared):
    folder = shared / "parity" / "bertscore"
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    rows = [json.loads(line) for line in (folder / "inputs.jsonl").read_text(encoding="utf-8").splitlines()]
    items = [
        Item(row["id"], row["summary"], article=row["article"], references=tuple(row["references"]))
        for row in rows
    ]
    return folder, expected, items


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


@pytest.mark.parametrize("model", BASELINES)
def test_every_variant_equals_the_authors(golden, model, record_property):
    folder, expected, items = golden
    by_id = {each["id"]: each[model] for each in expected["items"]}
    variants = [each for each in by_id[items[0].id] if each.startswith("layer")]
    assert len(variants) >= 15
    bertscore = load_evaluator("bertscore")
    largest = 0.0
    for variant in variants:
        tolerance = expected["tolerance"]["abs_rescaled" if "rescaled" in variant else "abs"]
        for theirs, ours in MEASURES.items():
            settings = settings_of(variant, model, folder) | {"measure": ours}
            evaluator = bertscore(read_params(bertscore, settings))
            evaluator.survey(items)
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
def test_the_tokens_are_the_authors(golden, model):
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
