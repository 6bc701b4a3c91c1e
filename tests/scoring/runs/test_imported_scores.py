"""Scores computed elsewhere, imported as finished runs."""

from collections import Counter

import pytest

from annotation.imports.import_file import import_file
from annotation.imports.reading.importer import open_import
from annotation.models import Article, Question, Rating, Summary, System
from scoring.models import Run, Score, Setup
from scoring.runs.imported_scores import ImportedScores
from tests.factories import make_article, make_project, make_summary, make_system
from tests.import_files import jsonl, lines

pytestmark = pytest.mark.django_db

ICE_SYSTEMS = "M11,M13,M1,M14,M15,M12,M5,M17,M20,M23,M2,M0,M22,M8,M10,M9"
DIMENSIONS = ("coherence", "consistency", "fluency", "relevance")


def load(project, format_name, path, *, companion=None, dry_run=False, skip_bad=False, **options):
    project.refresh_from_db()
    importer = open_import(format_name, path, companion=companion, options=options)
    return import_file(
        project,
        importer,
        dry_run=dry_run,
        skip_bad=skip_bad,
        scores=lambda: ImportedScores(project, importer.file.name),
    )


@pytest.fixture
def project():
    project = make_project()
    for article in ("a", "b"):
        make_summary(
            project, article=make_article(project, external_id=article), system=make_system(project, "x/y")
        )
    return project


def row(identifier="a/x/y", **changes):
    return {"id": identifier, "scores": {"fluency": 0.5}} | changes


def values():
    rows = Score.objects.values_list("setup__label", "dimension", "summary__article__external_id", "value")
    return {(label, dimension, article): value for label, dimension, article, value in rows}


def test_imported_scores_become_a_finished_run(project, tmp_path):
    missing = row("b/x/y", scores={"fluency": None}, reasons={"fluency": "empty summary"})
    report = load(project, "scores", jsonl(tmp_path / "ice.jsonl", row(), missing))
    assert (report.refused, report.rejected) == ("", 0)
    setup = Setup.objects.get()
    assert (setup.evaluator, setup.label, setup.signature) == ("imported", "ice", "imported|name:ice")
    assert setup.provenance["files"] == ["ice.jsonl"]
    run = Run.objects.get()
    assert (run.status, run.total) == (Run.Status.DONE, 2)
    assert values() == {("ice", "fluency", "a"): 0.5, ("ice", "fluency", "b"): None}
    assert Score.objects.get(value=None).reason == "empty summary"


def test_id_joins_article_and_system_even_if_both_contain_slashes(project, tmp_path):
    make_summary(project, article=make_article(project, external_id="a/x"), system=make_system(project, "z"))
    assert not load(project, "scores", jsonl(tmp_path / "s.jsonl", row(), row("a/x/z"))).refused


def test_ambiguous_id_is_refused(project, tmp_path):
    make_summary(project, article=make_article(project, external_id="a/x"), system=make_system(project, "y"))
    report = load(project, "scores", jsonl(tmp_path / "s.jsonl", row()))
    assert [(problem.line, problem.field) for problem in report.problems] == [(1, "id")]
    named = row(article_id="a", system="x/y")
    assert not load(project, "scores", jsonl(tmp_path / "t.jsonl", named)).refused


@pytest.mark.parametrize("identifier", ["c/x/y", "a/x", "a", "a/x/y/", "/x/y"])
def test_unknown_summary_is_refused_once_per_line(project, tmp_path, identifier):
    wrong = row(identifier, scores={"fluency": 1, "coherence": 2})
    report = load(project, "scores", jsonl(tmp_path / "s.jsonl", row(), wrong))
    assert [(problem.line, problem.field) for problem in report.problems] == [(2, "id")]
    assert not Setup.objects.exists()


def test_other_ids_are_resolved_through_the_examples(project, tmp_path):
    examples = jsonl(tmp_path / "e.jsonl", {"id": "17", "article_id": "b", "system": "x/y", "summary": "S."})
    load(project, "scores", jsonl(tmp_path / "s.jsonl", row("17")), companion=examples)
    assert list(values()) == [("s", "fluency", "b")]


def test_importing_the_same_scores_again_changes_nothing(project, tmp_path):
    path = jsonl(
        tmp_path / "s.jsonl", row(), row("b/x/y", scores={"fluency": None}, reasons={"fluency": "x"})
    )
    load(project, "scores", path)
    report = load(project, "scores", path)
    assert report.counts["scores"].present == 2
    assert not report.has_news
    assert (Run.objects.count(), Score.objects.count()) == (1, 2)


def test_more_scores_with_the_same_name_are_added(project, tmp_path):
    load(project, "scores", jsonl(tmp_path / "1.jsonl", row()), evaluator="ICE")
    load(project, "scores", jsonl(tmp_path / "2.jsonl", row(), row("b/x/y")), evaluator="ICE")
    assert Setup.objects.get().provenance["files"] == ["1.jsonl", "2.jsonl"]
    assert (Run.objects.count(), Score.objects.count()) == (2, 2)


def test_different_score_with_the_same_name_is_refused(project, tmp_path):
    load(project, "scores", jsonl(tmp_path / "1.jsonl", row()), evaluator="ICE")
    other = row(scores={"fluency": 0.75})
    report = load(project, "scores", jsonl(tmp_path / "2.jsonl", other), evaluator="ICE")
    (problem,) = report.problems
    assert (problem.line, problem.field, problem.found) == (1, "scores.fluency", "0.75")
    assert problem.expected.startswith("0.5, which ICE already has")
    assert not load(project, "scores", jsonl(tmp_path / "2.jsonl", other), evaluator="ICE 2").refused


def test_two_scores_of_one_summary_in_one_file_are_refused(project, tmp_path):
    path = jsonl(
        tmp_path / "s.jsonl",
        row(),
        row(scores={"fluency": 1}),
        row(scores={"fluency": None}, reasons={"fluency": "x"}),
    )
    report = load(project, "scores", path)
    assert [problem.line for problem in report.problems] == [2, 3]
    assert not Score.objects.exists()


def test_dry_run_creates_no_evaluator(project, tmp_path):
    report = load(project, "scores", jsonl(tmp_path / "s.jsonl", row()), dry_run=True)
    assert report.counts["scores"].new == 1
    assert not Setup.objects.exists()


def test_projects_do_not_share_imported_evaluators(project, tmp_path):
    other = make_project()
    make_summary(other, article=make_article(other, external_id="a"), system=make_system(other, "x/y"))
    path = jsonl(tmp_path / "s.jsonl", row())
    load(project, "scores", path)
    load(other, "scores", path)
    assert Setup.objects.count() == 2


def test_real_ice_scores_and_labels_are_imported(shared):
    project = make_project()
    path = shared / "data/ice/data_sms.json"
    options = {"labels": "human_score_{dimension}", "no_references": True, "systems": ICE_SYSTEMS}
    report = load(project, "bartscore", path, create_questionnaire=True, **options)
    assert (report.refused, report.rejected) == ("", 0)
    assert (Article.objects.count(), System.objects.count(), Summary.objects.count()) == (96, 16, 1536)
    assert Counter(Score.objects.values_list("setup__label", "dimension")) == {
        (label, dimension): 1536
        for label in ("ice_uniform", "ice_stratified", "unieval")
        for dimension in DIMENSIONS
    }
    assert Run.objects.filter(total=1536, status=Run.Status.DONE).count() == 3
    assert Rating.objects.count() == 1536
    assert not load(project, "bartscore", path, **options).has_news


@pytest.mark.thorough
def test_real_ice_systems_are_in_the_given_order(shared):
    """ICE's human scores are (expert mean - 1) / 4, rounded to two places, of the same systems."""
    means, ice = make_project(), make_project()
    load(
        means,
        "bartscore",
        shared / "data/summeval/expert_means.16systems.jsonl.gz",
        labels="{dimension}",
        create_questionnaire=True,
    )
    load(
        ice,
        "bartscore",
        shared / "data/ice/data_sms.json",
        labels="human_score_{dimension}",
        create_questionnaire=True,
        no_references=True,
        systems=ICE_SYSTEMS,
    )
    expected, found = labels(means), labels(ice)
    assert len(found) == 1536 * 4
    for name, label in found.items():
        assert label == pytest.approx((expected[name] - 1) / 4, abs=0.0051)


def labels(project):
    project.refresh_from_db()
    rows = Question.objects.filter(questionnaire=project.questionnaire_id)
    assert rows.count() == 4
    return {
        (article, system, key): float(value)
        for article, system, key, value in Rating.objects.filter(rater__project=project).values_list(
            "summary__article__external_id",
            "summary__system__name",
            "answers__question__key",
            "answers__value",
        )
    }


# Tables with a column for each metric


def test_a_table_becomes_a_run_of_each_evaluator(project, tmp_path):
    path = lines(tmp_path / "metrics.csv", "article_id,system,rouge1,ice", "a,x/y,0.5,", "b,x/y,1,NA")
    report = load(project, "scores", path)
    assert (report.refused, report.counts["scores"].new) == ("", 4)
    assert values() == {
        ("rouge1", "general", "a"): 0.5,
        ("rouge1", "general", "b"): 1.0,
        ("ice", "general", "a"): None,
        ("ice", "general", "b"): None,
    }
    assert set(Score.objects.filter(value=None).values_list("reason", flat=True)) == {"no score in the file"}
    assert Run.objects.count() == Setup.objects.count() == 2
    assert not load(project, "scores", path).has_news


def test_a_table_has_the_scores_of_files_of_one_evaluator_each(project, tmp_path):
    load(project, "scores", jsonl(tmp_path / "rouge1.jsonl", row(scores={"general": 0.5})))
    report = load(project, "scores", lines(tmp_path / "metrics.csv", "id,rouge1", "a/x/y,0.5", "b/x/y,1"))
    assert (report.counts["scores"].new, report.counts["scores"].present) == (1, 1)


@pytest.mark.parametrize(
    ("second", "field"),
    [("a/x/y,0.75", "rouge1"), ("a/x/y,", "rouge1"), ("c/x/y,0.5", "id"), ("b/x/y,high", "rouge1")],
    ids=["repeated", "repeated without a score", "unknown summary", "text"],
)
def test_a_wrong_row_of_a_table_stores_nothing_or_is_left_out(project, tmp_path, second, field):
    path = lines(tmp_path / "metrics.csv", "id,rouge1", "a/x/y,0.5", second)
    report = load(project, "scores", path)
    assert [(problem.line, problem.field) for problem in report.problems] == [(3, field)]
    assert not Score.objects.exists()
    load(project, "scores", path, skip_bad=True)
    assert values() == {("rouge1", "general", "a"): 0.5}
