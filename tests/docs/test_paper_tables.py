"""The documentation's scripts that recompute tables of papers."""

import gzip
import json
import math
import random
import subprocess
import sys
from statistics import fmean

import numpy as np
import pytest
from rouge_score.rouge_scorer import RougeScorer
from scipy.stats import kendalltau, mannwhitneyu, pearsonr, spearmanr

from docs.examples import ice_tables, seahorse_tables, umse_tables
from docs.examples.papers import read_summaries
from tests.conftest import ROOT
from tests.import_files import SEAHORSE_HEADER, jsonl, lines, seahorse_row

DIMENSIONS = ("coherence", "consistency", "fluency", "relevance")
SUMMEVAL = "data/summeval/expert_means.16systems.jsonl.gz"
HALLUCINATIONS = "data/xsum_hallucination/eval_scores_xsum_summaries.csv"


def values_of(rows):
    return {name: values for name, values, _ in rows}


def published(row):
    return [math.nan if cell == "-" else float(cell) for cell in row.split()]


def printed(monkeypatch, capsys, script, *arguments):
    """Return the words of each line that the script prints."""
    monkeypatch.setattr(sys, "argv", ["script", *map(str, arguments)])
    script.main()
    return [line.split() for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize("name", ["ice_tables", "umse_tables", "seahorse_tables"])
def test_scripts_start_from_any_folder(tmp_path, name):
    command = [sys.executable, ROOT / f"docs/examples/{name}.py", "--help"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert f"python docs/examples/{name}.py" in done.stdout


@pytest.fixture
def ice_file(tmp_path):
    """Return a file in ICE's layout, and its scores by name."""
    draws = random.Random(0)
    names = [f"{kind}_{dimension}" for kind in ("human_score", "ice_uniform") for dimension in DIMENSIONS]
    scores = [{name: draws.randint(0, 4) / 4 for name in names} for _ in range(20)]
    articles = {
        f"a{place}": {
            "src": "An article.",
            "ref_summ": "placeholder",
            "sys_summs": {
                str(number): {"sys_summ": f"Summary {number}.", "scores": scores[number]}
                for number in range(place * 4, place * 4 + 4)
            },
        }
        for place in range(5)
    }
    path = tmp_path / "data_sms.json"
    path.write_text(json.dumps(articles))
    return path, {name: [each[name] for each in scores] for name in names}


def test_ice_coefficients_are_pooled_over_all_summaries(ice_file):
    path, scores = ice_file
    found = values_of(ice_tables.table_1(ice_tables.read_ice(path)))
    expected = [
        coefficient(scores[f"human_score_{dimension}"], scores[f"ice_uniform_{dimension}"]).statistic
        for dimension in DIMENSIONS
        for coefficient in (spearmanr, kendalltau)
    ]
    assert found["ICE (Uniform Sampling)"] == pytest.approx(expected, abs=1e-9)
    assert np.isnan(found["ICE (Stratified Sampling)"]).all()


def test_a_row_without_scores_has_its_published_values_alone(ice_file, monkeypatch, capsys):
    path, scores = ice_file
    table = printed(monkeypatch, capsys, ice_tables, path)
    assert table[0] == ["20", "summaries"]
    rho = spearmanr(scores["human_score_coherence"], scores["ice_uniform_coherence"]).statistic
    place = next(place for place, line in enumerate(table) if "Touchstone" in line)
    found, paper, difference = table[place : place + 3]
    assert found[:5] == ["ICE", "(Uniform", "Sampling)", "Touchstone", f"{rho:.4f}"]
    assert paper[:2] == ["published", "0.476"]
    assert difference[:2] == ["difference", f"{rho - 0.476:+.4f}"]
    assert ["CTC", "published", *ice_tables.TABLE_1["CTC"].split()] in table
    assert sum("Touchstone" in line for line in table) == 1


def test_ice_rows_have_the_published_digits(shared):
    found = values_of(ice_tables.table_1(ice_tables.read_ice(shared / "data/ice/data_sms.json")))
    for metric in ("ICE (Uniform Sampling)", "ICE (Stratified Sampling)"):
        cut = [math.floor(value * 1000) / 1000 for value in found[metric]]
        assert cut == published(ice_tables.TABLE_1[metric])
    assert found["UniEval"][0] == pytest.approx(0.2644, abs=5e-5)


@pytest.fixture
def summeval(shared):
    """Return a function to a file of SummEval's first articles."""

    def first(path, count):
        with gzip.open(shared / SUMMEVAL, "rt") as file:
            rows = [json.loads(line) for line, _ in zip(file, range(count), strict=False)]
        return jsonl(path, *rows), rows

    return first


def test_rouge_1_is_that_of_rouge_score_per_article(summeval, tmp_path):
    path, rows = summeval(tmp_path / "summeval.jsonl", 2)
    scorer = RougeScorer(["rouge1"], use_stemmer=True)
    rhos = []
    for row in rows:
        systems = row["sys_summs"].values()
        scores = [
            fmean(scorer.score(each, system["sys_summ"])["rouge1"].fmeasure for each in row["ref_summs"])
            for system in systems
        ]
        rhos.append(spearmanr(scores, [system["scores"]["coherence"] for system in systems]).statistic)
    found = values_of(umse_tables.table_1(umse_tables.read_summeval(path)))
    assert found["ROUGE-1"][0] == pytest.approx(fmean(rhos), abs=1e-9)
    assert list(found) == ["ROUGE-1", "ROUGE-2", "ROUGE-L"]


@pytest.mark.thorough
def test_umse_table_1_is_met_but_for_the_repeated_figure(shared):
    for metric, found in values_of(umse_tables.table_1(umse_tables.read_summeval(shared / SUMMEVAL))).items():
        differences = np.abs(np.subtract(found, published(umse_tables.TABLE_1[metric])))
        assert [place for place, each in enumerate(differences) if each > 0.0021] == (
            [DIMENSIONS.index("fluency") * 2] if metric == "ROUGE-1" else []
        )


def test_umse_table_4_is_met_to_the_last_digit(shared):
    found = values_of(umse_tables.table_4(shared / HALLUCINATIONS))
    for metric, values in found.items():
        if metric in umse_tables.COLUMNS:
            assert [round(value, 3) for value in values] == published(umse_tables.TABLE_4[metric])
        else:
            assert np.isnan(values).all()


def test_a_cell_that_is_no_number_is_named(tmp_path):
    header = "system_bbcid,R1,R2,RL,BERTScore,Entailment,Faithful,Factual"
    path = lines(tmp_path / "scores.csv", header, "a,1,1,1,1,1,1,1", "b,1,1,1,1,1,,1")
    with pytest.raises(SystemExit, match=r"scores\.csv, line 3: Faithful is '', not a number"):
        list(umse_tables.table_4(path))


ANSWERS = (
    ("Yes", "Yes", "Yes", "Yes", "No", "Yes"),
    ("Yes", "No", "Yes", "No", "No", "No"),
    ("Yes", "Yes", "No", "Yes", "Yes", "Unsure"),
    ("No", "", "", "", "", ""),
    ("Yes", "No", "No", "No", "Yes", "No"),
    ("Yes", "Yes", "Yes", "Unsure", "Yes", "Yes"),
)
SCORES = (0.9, 0.4, 0.5, 0.1, 0.6, 0.2)


@pytest.fixture
def seahorse_files(tmp_path):
    """Return ratings, and scores of two questions in two files with one name up to the first dot."""
    rows = [
        seahorse_row(f"xsum-test-{place}", "Ships froze.", answers="\t".join(each))
        for place, each in enumerate(ANSWERS)
    ]
    again = seahorse_row("xsum-test-0", "Ships froze.", answers="\t".join(["No", *[""] * 5]))
    ratings = lines(tmp_path / "test.tsv", SEAHORSE_HEADER, *rows, again)
    scores = [
        jsonl(
            tmp_path / f"mt5_L_seahorse.{question}.jsonl",
            *(
                {"id": f"xsum-test-{place}/t5_base", "scores": {question: score}}
                for place, score in enumerate(SCORES)
            ),
        )
        for question in ("comprehensibility", "attribution")
    ]
    return ratings, scores


def of_answers(question):
    """Return labels and scores of the summaries with yes or no, by each summary's first rating."""
    pairs = [(each[question], score) for each, score in zip(ANSWERS, SCORES, strict=True)]
    return zip(
        *(((answer == "Yes") * 1, score) for answer, score in pairs if answer in ("Yes", "No")), strict=True
    )


def test_seahorse_coefficients_are_over_first_answers_of_yes_or_no(seahorse_files):
    ratings, scores = seahorse_files
    found = values_of(seahorse_tables.table_6(read_summaries("seahorse", ratings), scores))
    for question in (0, 3):
        labels, given = map(np.array, of_answers(question))
        yes, no = given[labels == 1], given[labels == 0]
        expected = [pearsonr(labels, given).statistic, mannwhitneyu(yes, no).statistic / (len(yes) * len(no))]
        assert found["mt5_L_seahorse"][question * 2 : question * 2 + 2] == pytest.approx(expected, abs=1e-9)
    assert np.isnan(found["mt5_L_seahorse"][2:6]).all()
    assert found["majority_class"] == pytest.approx([math.nan, 0.5] * 6, nan_ok=True)
    assert np.isnan(found["ROUGE-L"]).all()


def test_articles_add_rouge(seahorse_files, tmp_path, monkeypatch, capsys):
    ratings, scores = seahorse_files
    texts = [
        "Ships froze." if each[3] == "Yes" else f"Nothing of it {'again ' * place}"
        for place, each in enumerate(ANSWERS)
    ]
    rows = [{"id": f"xsum-test-{place}", "article": text} for place, text in enumerate(texts)]
    articles = jsonl(tmp_path / "articles.jsonl", *rows)
    table = printed(monkeypatch, capsys, seahorse_tables, ratings, *scores, "--articles", articles)
    (rouge,) = [line for line in table if line[:2] == ["ROUGE-L", "Touchstone"]]
    assert rouge[2 + 7] == "1.0000"
    assert ["Q4", "attribution:", "2", "yes,", "2", "no"] in table


def test_scores_of_unknown_summaries_are_refused(seahorse_files, tmp_path):
    ratings, _ = seahorse_files
    strange = jsonl(tmp_path / "mine.jsonl", {"id": "xsum-test-9/t5_base", "scores": {"general": 1}})
    with pytest.raises(SystemExit, match=r"mine\.jsonl: id 'xsum-test-9/t5_base'"):
        list(seahorse_tables.table_6(read_summaries("seahorse", ratings), [strange]))


def test_an_unknown_answer_is_named(tmp_path):
    row = seahorse_row(answers="\t".join(["Yes"] * 5 + ["Perhaps"]))
    with pytest.raises(SystemExit, match=r"test\.tsv.*2.*question6.*perhaps"):
        read_summaries("seahorse", lines(tmp_path / "test.tsv", SEAHORSE_HEADER, row))


def test_an_invalid_file_is_refused_with_its_problems(tmp_path):
    with pytest.raises(SystemExit, match="gem_id"):
        read_summaries("seahorse", lines(tmp_path / "test.tsv", SEAHORSE_HEADER, seahorse_row(gem_id=" ")))


def test_the_excerpt_has_nothing_but_the_majority(shared, monkeypatch, capsys):
    path = shared / "data/seahorse/validation_excerpt.tsv"
    table = printed(monkeypatch, capsys, seahorse_tables, path)
    assert table[0] == ["56", "summaries"]
    assert ["Q1", "comprehensibility:", "52", "yes,", "4", "no"] in table
    assert sum("Touchstone" in line for line in table) == 1


def test_only_fives_of_all_experts_are_consistent(summeval, tmp_path):
    path, rows = summeval(tmp_path / "summeval.jsonl", 3)
    scorer = RougeScorer(["rougeL"])
    pairs = [
        (
            system["scores"]["consistency"] == 5,
            scorer.score(row["src"], system["sys_summ"])["rougeL"].fmeasure,
        )
        for row in rows
        for system in row["sys_summs"].values()
    ]
    yes, no = ([score for label, score in pairs if label is wanted] for wanted in (True, False))
    found = values_of(seahorse_tables.table_8(read_summaries("bartscore", path, labels="{dimension}")))
    auc = mannwhitneyu(yes, no).statistic / (len(yes) * len(no))
    assert found["ROUGE-L"] == [pytest.approx(auc, abs=0.01)]
    assert found["majority_class"] == [0.5]
