"""The agreement command on published ratings, compared with the krippendorff package.

It reads the published files as they are, in about 20 seconds.
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


def run_agreement(
    path: Path, rows: Iterable[Row] | None, *arguments: str
) -> dict[tuple[str, str, str], dict]:
    """Return the command's rows by question, language and statistic, from `rows` written to `path`."""
    if rows is not None:
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(rows)
    out = io.StringIO()
    command = ("agreement", "--input", str(path), "--interval", "none", "--format", "json")
    call_command(*command, *arguments, stdout=out)
    return {(row["question"], row["language"], row["statistic"]): row for row in json.loads(out.getvalue())}


def alpha_of_package(rows: Iterable[Row], scale: str, values: list | None = None) -> float:
    """Return the package's alpha of these rows, from a matrix of raters by summaries."""
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


def alpha_from_pairs(rows: Iterable[Row]) -> float:
    """Return interval alpha by its definition, because the package's table does not fit into memory."""
    units: dict[str, list[float]] = {}
    for row in rows:
        units.setdefault(f"{row['article_id']} {row['system']}", []).append(float(row["value"]))
    observed = sum((np.subtract.outer(unit, unit) ** 2).sum() / (len(unit) - 1) for unit in units.values())
    ratings = np.concatenate(list(units.values()))
    expected = (np.subtract.outer(ratings, ratings) ** 2).sum() / (len(ratings) - 1)
    return float(1 - observed / expected)


def alpha_row(found, question, language="all"):
    return found[question, language, "krippendorff_alpha"]


def test_alpha_of_xsum_factuality_equals_krippendorffs(shared, tmp_path):
    """Maynez et al. 2020: nominal, two or three answers per item, 33 of them NULL."""
    path = shared / "data/xsum_hallucination/factuality_annotations_xsum_summaries.csv"
    columns = ["article_id=bbcid", "rater=worker_id", "value=is_factual", "question==factual"]
    mapped = [argument for each in columns for argument in ("--map", each)]
    found = alpha_row(run_agreement(path, None, *mapped), "factual")
    with path.open(newline="") as file:
        rows = [
            rating(row["bbcid"], row["system"], row["worker_id"], "factual", row["is_factual"])
            for row in csv.DictReader(file)
            if row["is_factual"] != "NULL"
        ]
    assert found["value"] == pytest.approx(alpha_of_package(rows, "nominal", ["yes", "no"]), abs=1e-9)
    assert (found["units"], found["ratings"]) == (1858, 5597 - 33)


@pytest.mark.thorough
def test_alpha_of_xsum_hallucination_types_equals_krippendorffs(shared, tmp_path):
    """The file has one row per span; an answer is the set of a summary's span types."""
    path = shared / "data/xsum_hallucination/hallucination_annotations_xsum_summaries.csv"
    kinds: dict[tuple[str, str, str], set[str]] = {}
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            key = (row["bbcid"], row["system"], row["worker_id"])
            kinds.setdefault(key, set()).add(row["hallucination_type"])
    rows = [
        rating(*key, "kind", "+".join(sorted(found - {"NULL"})) or "none") for key, found in kinds.items()
    ]
    found = alpha_row(run_agreement(tmp_path / "r.csv", rows), "kind")
    values = sorted({row["value"] for row in rows})
    assert len(values) == 4
    assert found["value"] == pytest.approx(alpha_of_package(rows, "nominal", values), abs=1e-9)


def read_blanc(shared: Path) -> list[Row]:
    """Return the ratings of Vasilyev et al. (2020), with second readings by annotator `N again`."""
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
def test_alpha_of_blanc_ratings_with_gaps_equals_krippendorffs(shared, tmp_path, scale):
    rows = read_blanc(shared)
    assert sum(row["rater"].endswith("again") for row in rows) == 196
    found = run_agreement(tmp_path / "r.csv", rows, "--scale", scale)
    for quality in ("Fluent", "Understandable", "Informative", "Compact", "Overall"):
        of_quality = [row for row in rows if row["question"] == quality]
        expected = alpha_of_package(of_quality, scale)
        assert alpha_row(found, quality)["value"] == pytest.approx(expected, abs=1e-9), quality
        assert alpha_row(found, quality)["scale"] == scale


def test_a_rater_with_two_answers_is_refused_and_a_repeated_answer_counts_once(shared, tmp_path):
    rows = [rating("a", "s", rater, "q", value) for rater, value in (("r", 1), ("r", 1), ("t", 1), ("t", 2))]
    with pytest.raises(CommandError, match="one answer to q by t"):
        run_agreement(tmp_path / "r.csv", rows)
    rows[3]["value"] = "1"
    found = run_agreement(
        tmp_path / "r.csv", [*rows, rating("b", "s", "r", "q", 2), rating("b", "s", "t", "q", 2)]
    )
    assert (alpha_row(found, "q")["units"], alpha_row(found, "q")["ratings"]) == (2, 4)


@pytest.mark.thorough
def test_alpha_of_summeval_experts_and_crowd_equals_krippendorffs(shared, tmp_path):
    """Fabbri et al. 2021: ordinal, 1 to 5; the file identifies raters only by position."""
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
        found = run_agreement(tmp_path / "r.csv", written, "--group", group)
        for dimension in ("coherence", "consistency", "fluency", "relevance"):
            of_both = [row for row in rows if (row["question"], row["group"]) == (dimension, group)]
            assert alpha_row(found, dimension)["scale"] == "ordinal"
            expected = alpha_of_package(of_both, "ordinal")
            assert alpha_row(found, dimension)["value"] == pytest.approx(expected, abs=1e-9)


def test_alpha_of_multi_summeval_follows_its_definition_in_each_language(shared, tmp_path):
    """Koto et al. 2021: crowd ratings in three languages, real numbers that rarely repeat."""
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
    found = run_agreement(tmp_path / "r.csv", rows)
    assert {language for _, language, _ in found} == {"all", "de", "es", "tr"}
    for name in ("focus", "coverage"):
        of_question = [row for row in rows if row["question"] == name]
        assert alpha_row(found, name)["value"] == pytest.approx(alpha_from_pairs(of_question), abs=1e-9)
        for language in ("de", "es", "tr"):
            of_language = [row for row in of_question if row["language"] == language]
            expected = alpha_from_pairs(of_language)
            assert alpha_row(found, name, language)["value"] == pytest.approx(expected, abs=1e-9)
