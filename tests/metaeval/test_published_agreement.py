"""Agreement on published ratings, by the command as a user would, beside the package krippendorff.

Whole published files: about 20 seconds.
"""

import csv
import gzip
import io
import json
from collections.abc import Iterable
from pathlib import Path

import krippendorff
import numpy as np
import pytest
from django.core.management import CommandError, call_command

COLUMNS = ("article_id", "system", "rater", "question", "value", "group", "language")
Row = dict[str, str]


def rating(article, system, rater, question, value, *, group="", language="") -> Row:
    given = (article, system, rater, question, value, group, language)
    return dict(zip(COLUMNS, map(str, given), strict=True))


def agreement(path: Path, rows: Iterable[Row] | None, *arguments: str) -> dict[tuple[str, str, str], dict]:
    """The rows of the command by question, language and statistic; `rows` are first written to `path`."""
    if rows is not None:
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(rows)
    out = io.StringIO()
    command = ("agreement", "--input", str(path), "--interval", "none", "--format", "json")
    call_command(*command, *arguments, stdout=out)
    return {(row["question"], row["language"], row["statistic"]): row for row in json.loads(out.getvalue())}


def by_krippendorff(rows: Iterable[Row], scale: str, values: list | None = None) -> float:
    """Alpha of the rows with an answer, by the package, from a matrix of raters by summaries."""
    rows = list(rows)
    raters = {rater: place for place, rater in enumerate(dict.fromkeys(row["rater"] for row in rows))}
    units = dict.fromkeys((row["article_id"], row["system"]) for row in rows)
    places = {unit: place for place, unit in enumerate(units)}
    numbers = {value: place for place, value in enumerate(values)} if values else None
    matrix = np.full((len(raters), len(places)), np.nan)
    for row in rows:
        number = numbers[row["value"]] if numbers else float(row["value"])
        at = raters[row["rater"]], places[row["article_id"], row["system"]]
        assert np.isnan(matrix[at])
        matrix[at] = number
    return float(krippendorff.alpha(reliability_data=matrix, level_of_measurement=scale))


def pair_by_pair(rows: Iterable[Row]) -> float:
    """Interval alpha by its definition; the package's table of all values by all values does not fit."""
    units: dict[str, list[float]] = {}
    for row in rows:
        units.setdefault(f"{row['article_id']} {row['system']}", []).append(float(row["value"]))
    observed = sum((np.subtract.outer(unit, unit) ** 2).sum() / (len(unit) - 1) for unit in units.values())
    ratings = np.concatenate(list(units.values()))
    expected = (np.subtract.outer(ratings, ratings) ** 2).sum() / (len(ratings) - 1)
    return float(1 - observed / expected)


def alpha(found, question, language="all"):
    return found[question, language, "krippendorff_alpha"]


def test_factuality_of_xsum(shared, tmp_path):
    """Maynez et al. 2020, as published: nominal, 33 answers NULL, on items with two answers or three."""
    path = shared / "data/xsum_hallucination/factuality_annotations_xsum_summaries.csv"
    columns = ["article_id=bbcid", "rater=worker_id", "value=is_factual", "question==factual"]
    mapped = [argument for each in columns for argument in ("--map", each)]
    found = alpha(agreement(path, None, *mapped), "factual")
    with path.open(newline="") as file:
        rows = [
            rating(row["bbcid"], row["system"], row["worker_id"], "factual", row["is_factual"])
            for row in csv.DictReader(file)
            if row["is_factual"] != "NULL"
        ]
    assert found["value"] == pytest.approx(by_krippendorff(rows, "nominal", ["yes", "no"]), abs=1e-9)
    assert (found["units"], found["ratings"]) == (1858, 5597 - 33)


def test_hallucinations_of_xsum(shared, tmp_path):
    """Several rows for a rater and summary, one for each span: an answer is the set of their types."""
    path = shared / "data/xsum_hallucination/hallucination_annotations_xsum_summaries.csv"
    kinds: dict[tuple[str, str, str], set[str]] = {}
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            key = (row["bbcid"], row["system"], row["worker_id"])
            kinds.setdefault(key, set()).add(row["hallucination_type"])
    rows = [
        rating(*key, "kind", "+".join(sorted(found - {"NULL"})) or "none") for key, found in kinds.items()
    ]
    found = alpha(agreement(tmp_path / "r.csv", rows), "kind")
    values = sorted({row["value"] for row in rows})
    assert len(values) == 4
    assert found["value"] == pytest.approx(by_krippendorff(rows, "nominal", values), abs=1e-9)


def blanc(shared: Path) -> list[Row]:
    """Vasilyev et al. 2020; a second reading of a summary by one annotator is one by annotator `N again`."""
    items = json.loads((shared / "data/blanc_dailynews/DailyNews_300_aspects.json").read_text())
    rows = []
    for place, item in enumerate(items):
        for quality, given in item["map_quality_scores"].items():
            seen: set[int] = set()
            for annotator, score in zip(given["annotators_ids"], given["scores"], strict=True):
                name = f"{annotator} again" if annotator in seen else str(annotator)
                seen.add(annotator)
                rows.append(rating(f"text-{place}", "summary", name, quality, score))
    return rows


@pytest.mark.parametrize("scale", ["nominal", "ordinal", "interval"])
def test_blanc_with_incomplete_design_and_second_readings(shared, tmp_path, scale):
    rows = blanc(shared)
    assert sum(row["rater"].endswith("again") for row in rows) == 196
    found = agreement(tmp_path / "r.csv", rows, "--scale", scale)
    for quality in ("Fluent", "Understandable", "Informative", "Compact", "Overall"):
        of_quality = [row for row in rows if row["question"] == quality]
        expected = by_krippendorff(of_quality, scale)
        assert alpha(found, quality)["value"] == pytest.approx(expected, abs=1e-9), quality
        assert alpha(found, quality)["scale"] == scale


def test_two_answers_of_one_rater_are_refused_and_the_same_one_counts_once(shared, tmp_path):
    rows = [rating("a", "s", rater, "q", value) for rater, value in (("r", 1), ("r", 1), ("t", 1), ("t", 2))]
    with pytest.raises(CommandError, match="one answer to q by t"):
        agreement(tmp_path / "r.csv", rows)
    rows[3]["value"] = "1"
    found = agreement(
        tmp_path / "r.csv", [*rows, rating("b", "s", "r", "q", 2), rating("b", "s", "t", "q", 2)]
    )
    assert (alpha(found, "q")["units"], alpha(found, "q")["ratings"]) == (2, 4)


def test_summeval_by_experts_and_crowd(shared, tmp_path):
    """Fabbri et al. 2021: ordinal, 1 to 5; raters are known by their position alone."""
    path = shared / "data/summeval/model_annotations.aligned.paired.12systems.jsonl.gz"
    rows = []
    with gzip.open(path, "rt") as file:
        for line in file:
            item = json.loads(line)
            for group, field in (("expert", "expert_annotations"), ("crowd", "turker_annotations")):
                rows += [
                    rating(item["id"], item["model_id"], f"{group} {place}", name, score, group=group)
                    for place, scores in enumerate(item[field])
                    for name, score in scores.items()
                ]
    for group, written in (("expert", rows), ("crowd", None)):
        found = agreement(tmp_path / "r.csv", written, "--group", group)
        for dimension in ("coherence", "consistency", "fluency", "relevance"):
            of_both = [row for row in rows if (row["question"], row["group"]) == (dimension, group)]
            assert alpha(found, dimension)["scale"] == "ordinal"
            expected = by_krippendorff(of_both, "ordinal")
            assert alpha(found, dimension)["value"] == pytest.approx(expected, abs=1e-9)


def test_multi_summeval_by_language(shared, tmp_path):
    """Koto et al. 2021: real numbers, nearly all different, in three languages, by many crowd workers."""
    path = shared / "data/multi_summeval/focus_coverage.de_es_tr.jsonl"
    rows = [
        rating(
            f"{item['lang']}-{item['doc_id']}",
            item["system"],
            each["rater"],
            name,
            each["z"],
            language=language,
        )
        for item in map(json.loads, path.read_text().splitlines())
        for language in [item["lang"].lower()]
        for name in ("focus", "coverage")
        for each in item[name]
    ]
    found = agreement(tmp_path / "r.csv", rows)
    assert {language for _, language, _ in found} == {"all", "de", "es", "tr"}
    for name in ("focus", "coverage"):
        of_question = [row for row in rows if row["question"] == name]
        assert alpha(found, name)["value"] == pytest.approx(pair_by_pair(of_question), abs=1e-9)
        for language in ("de", "es", "tr"):
            of_language = [row for row in of_question if row["language"] == language]
            expected = pair_by_pair(of_language)
            assert alpha(found, name, language)["value"] == pytest.approx(expected, abs=1e-9)
