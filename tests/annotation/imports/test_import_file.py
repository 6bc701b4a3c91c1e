"""The database after an import."""

import gc
import gzip
import json
import tracemalloc
from collections import Counter

import pytest
from django.db.models import Count

from annotation.imports import import_file as import_file_module
from annotation.imports.formats import IMPORTERS
from annotation.imports.import_file import NO_VALID_ROW, ChangedMeanwhile, import_file
from annotation.imports.reading.importer import open_import
from annotation.labels import human_labels
from annotation.models import (
    Answer,
    Article,
    Project,
    Question,
    Rater,
    Rating,
    Summary,
    System,
)
from annotation.people.members import remove_rater
from annotation.protocol import SUMMEVAL
from annotation.rating.assigning import take_assignment
from tests.annotation.imports.importing_steps import (
    RATINGS,
    articles_file,
    load,
    new_counts,
    revision,
    row_counts,
    sheet,
)
from tests.factories import make_article, make_project, make_rater, make_summary, make_system
from tests.import_files import ALL_YES, SEAHORSE_HEADER, jsonl, lines, seahorse_row, within_cpu_seconds

pytestmark = pytest.mark.django_db


@pytest.fixture
def seahorse(tmp_path):
    def write(*rows, name="ratings.tsv"):
        return lines(tmp_path / name, SEAHORSE_HEADER, *rows)

    return write


# SEAHORSE


def test_a_seahorse_row_becomes_a_rating_that_counts(project, seahorse):
    report = load(project, "seahorse", seahorse(seahorse_row(answers="Yes\tNo\tYes\tUnsure\tYes\tNo")))
    assert (report.refused, report.rejected) == ("", 0)
    rating = Rating.objects.countable().select_related("summary__article", "rater").get()
    assert sheet(rating) == {
        "comprehensibility": "yes",
        "repetition": "no",
        "grammar": "yes",
        "attribution": "unsure",
        "main_ideas": "yes",
        "conciseness": "no",
    }
    rater = rating.rater
    assert (rater.user, rater.status, rater.group, rater.languages) == (None, "qualified", "imported", ["en"])
    assert rating.completed_at == rating.created_at
    assert rating.stage_times == []
    assert revision(project) == 1


def test_real_excerpts_load(project, shared):
    for name in ("validation_excerpt.tsv", "validation_excerpt_2.tsv"):
        assert not load(project, "seahorse", shared / "data/seahorse" / name).refused
    assert Rating.objects.countable().count() == 79
    question = Question.objects.get(questionnaire=project.questionnaire, key="comprehensibility")
    labels = human_labels(project, question)
    assert len(labels) == 79
    assert sum(label == 0 for label in labels.values()) == 4, "rows of both files with No to question1"
    assert Summary.objects.filter(text=" ").count() == 1
    assert set(Rater.objects.get().languages) == {"de", "en", "es", "ru", "tr", "vi"}


def test_three_ratings_of_one_summary_get_three_raters(project, seahorse):
    load(project, "seahorse", seahorse(*[seahorse_row()] * 3))
    assert set(Rating.objects.values_list("rater__pseudonym", flat=True)) == {
        "seahorse-1",
        "seahorse-2",
        "seahorse-3",
    }
    assert Summary.objects.count() == 1


def test_summaries_are_offered_only_once_their_articles_are_imported(project, seahorse, tmp_path):
    Project.objects.filter(pk=project.pk).update(redundancy=2)
    rater = make_rater(project)
    path = seahorse(seahorse_row("a-test-1"), seahorse_row("a-test-2"))
    load(project, "seahorse", path)
    assert set(Summary.objects.values_list("open_places", flat=True)) == {1}
    assert take_assignment(rater) is None
    before = revision(project)
    report = load(project, "seahorse", path, companion=articles_file(tmp_path, "a-test-1", "a-test-2"))
    assert report.counts["articles"].filled == 2
    assert report.counts["articles"].new == 0
    assert Article.objects.get(external_id="a-test-1").text == "Text of a-test-1."
    assert revision(project) == before + 1
    assert take_assignment(rater) is not None


def test_the_share_with_extra_ratings_does_not_depend_on_file_order(seahorse):
    rows = [seahorse_row(f"a-test-{number}") for number in range(60)]
    wanted = []
    for ordered in (rows, rows[::-1]):
        project = make_project(slug=f"twice-{len(wanted)}", extra_share=0.5, extra_redundancy=3)
        Project.objects.filter(pk=project.pk).update(slug="the-same")
        load(project, "seahorse", seahorse(*ordered))
        wanted.append(
            dict(
                Summary.objects.filter(project=project).values_list("article__external_id", "ratings_wanted")
            )
        )
        for summary in Summary.objects.filter(project=project):
            assert summary.open_places == summary.ratings_wanted - 1
        Project.objects.filter(pk=project.pk).update(slug=f"done-{len(wanted)}")
    assert wanted[0] == wanted[1]
    assert set(Counter(wanted[0].values())) == {1, 3}


# Repeated imports and conflicts with stored rows


def test_loading_the_same_file_again_changes_nothing(project, seahorse, tmp_path):
    path = seahorse(
        seahorse_row(), seahorse_row(), seahorse_row("xsum-validation-2", answers="No" + "\t" * 5)
    )
    articles = articles_file(tmp_path, "xsum-validation-1", "xsum-validation-2")
    load(project, "seahorse", path, companion=articles)
    before = row_counts(project), revision(project)
    report = load(project, "seahorse", path, companion=articles)
    assert (report.refused, report.rejected) == ("", 0)
    assert not report.has_news
    assert report.counts["ratings"].present == 3
    assert (row_counts(project), revision(project)) == before


def test_a_longer_file_adds_only_its_new_rows(project, seahorse):
    load(project, "seahorse", seahorse(seahorse_row()))
    report = load(project, "seahorse", seahorse(seahorse_row(), seahorse_row("xsum-validation-2")))
    assert new_counts(report) == {"articles": 1, "summaries": 1, "ratings": 1, "answers": 6}
    assert Rating.objects.count() == 2


def test_a_different_text_for_a_stored_summary_is_refused(project, seahorse):
    load(project, "seahorse", seahorse(seahorse_row(summary="First.")))
    report = load(project, "seahorse", seahorse(seahorse_row("xsum-test-9"), seahorse_row(summary="Second.")))
    (problem,) = report.problems
    assert (problem.line, problem.field, problem.found) == (3, "summary", "'Second.'")
    assert "the stored text of the summary of article xsum-validation-1 by t5_base" in problem.expected
    assert Summary.objects.get().text == "First."


def test_two_texts_for_one_summary_in_a_file_are_refused(project, seahorse):
    path = seahorse(seahorse_row(summary="First."), seahorse_row("b-test-1"), seahorse_row(summary="Second."))
    report = load(project, "seahorse", path)
    assert [(problem.line, problem.field) for problem in report.problems] == [(4, "summary")]
    assert row_counts(project) == (0,) * 7


def test_a_different_text_or_language_for_a_stored_article_is_refused(project, tmp_path):
    row = {"article_id": "a", "system": "x", "summary": "S.", "article": "One.", "language": "de"}
    load(project, "examples", jsonl(tmp_path / "1.jsonl", row))
    other = row | {"article": "Two.", "language": "tr", "system": "y", "title": "T"}
    report = load(project, "examples", jsonl(tmp_path / "2.jsonl", other))
    assert {problem.field for problem in report.problems} == {"article", "language"}
    assert Article.objects.get().text == "One."
    assert Article.objects.get().title == ""


def test_different_answers_by_the_same_rater_are_refused(project, seahorse):
    load(project, "seahorse", seahorse(seahorse_row()))
    report = load(project, "seahorse", seahorse(seahorse_row(answers="No" + "\t" * 5)))
    (problem,) = report.problems
    assert (problem.line, problem.field, problem.found) == (2, "rating", "comprehensibility no")
    assert "comprehensibility yes, repetition yes" in problem.expected
    assert Answer.objects.count() == 6


def test_an_import_cannot_add_ratings_to_a_rater_with_a_login(project, tmp_path):
    rater = make_rater(project, pseudonym="rater-1")
    summary = make_summary(project, article=make_article(project, external_id="a"), text="S.")
    row = f"a,{summary.system.name},rater-1,comprehensibility,no,S.,en"
    report = load(project, "ratings", lines(tmp_path / "r.csv", RATINGS, row))
    assert [(problem.field, problem.line) for problem in report.problems] == [("rater", 2)]
    assert not rater.ratings.exists()


def test_ratings_of_a_removed_rater_do_not_fill_open_places(project, seahorse):
    load(project, "seahorse", seahorse(seahorse_row()))
    remove_rater(Rater.objects.get())
    load(project, "seahorse", seahorse(seahorse_row(), seahorse_row("xsum-validation-2")))
    assert set(Summary.objects.values_list("open_places", flat=True)) == {1}


def test_a_new_rating_of_a_stored_summary_fills_an_open_place(project, tmp_path):
    summary = make_summary(
        project, article=make_article(project, external_id="a"), text="S.", ratings_wanted=2
    )
    row = f"a,{summary.system.name},r,comprehensibility,no,S.,en"
    load(project, "ratings", lines(tmp_path / "r.csv", RATINGS, row))
    summary.refresh_from_db()
    assert (summary.ratings_wanted, summary.open_places) == (2, 1)


def test_an_import_cannot_change_a_raters_group(project, tmp_path):
    def row(group, article):
        return f"{article},x,r,comprehensibility,no,S.,{group}"

    header = RATINGS.replace("language", "group")
    load(project, "ratings", lines(tmp_path / "1.csv", header, row("expert", "a")))
    report = load(project, "ratings", lines(tmp_path / "2.csv", header, row("crowd", "b"), row("", "c")))
    assert [(problem.line, problem.field) for problem in report.problems] == [(2, "group")]


# All or nothing


@pytest.mark.parametrize(
    ("row", "field"),
    [
        (seahorse_row(answers="Maybe" + "\t" * 5), "question1"),
        (seahorse_row(answers="No\tYes\t\t\t\t"), "question2"),
        (seahorse_row(answers=ALL_YES[:-3]), "question6"),
        (seahorse_row(answers="Yes\t\tYes\tYes\tYes\tYes"), "question4"),
        (seahorse_row(answers="\t" * 5), "question1"),
        ("only\tthree\tfields", "line"),
    ],
)
def test_an_error_in_the_last_row_stores_nothing(project, seahorse, row, field):
    good = [seahorse_row(f"a-test-{number}") for number in range(1200)]
    report = load(project, "seahorse", seahorse(*good, row))
    assert report.refused
    assert report.rejected == 1
    assert {problem.line for problem in report.problems} == {1202}
    assert field in {problem.field for problem in report.problems}
    assert row_counts(project) == (0,) * 7
    assert revision(project) == 0


def test_every_invalid_row_is_listed_in_file_order(project, seahorse):
    rows = [
        seahorse_row(f"a-test-{n}", answers="Nope" + "\t" * 5 if n % 7 == 0 else ALL_YES) for n in range(1100)
    ]
    rows[500] = "broken"
    report = load(project, "seahorse", seahorse(*rows))
    expected = sorted([*range(2, 1102, 7), 502])
    assert [problem.line for problem in report.problems] == expected
    assert report.rejected == len(expected)


def test_skip_bad_loads_valid_rows_and_writes_the_others_to_a_file(project, seahorse, tmp_path):
    path = seahorse(
        seahorse_row(),
        "broken",
        seahorse_row("b-test-1", answers="No\tYes\t\t\t\t"),
        seahorse_row("c-test-1"),
    )
    rejects = tmp_path / "ratings.rejected.jsonl"
    report = load(project, "seahorse", path, skip_bad=True, rejected_to=rejects)
    assert (report.refused, report.rejected) == ("", 2)
    assert set(Article.objects.values_list("external_id", flat=True)) == {"xsum-validation-1", "c-test-1"}
    rows = [json.loads(line) for line in rejects.read_text().splitlines()]
    assert [(row["line"], row["problems"][0]["field"]) for row in rows] == [(3, "line"), (4, "question2")]
    assert rows[0]["row"] == "broken"
    assert rows[1]["row"]["gem_id"] == "b-test-1"


@pytest.mark.parametrize("skip_bad", [True, False])
@pytest.mark.parametrize("dry_run", [True, False])
def test_a_file_without_a_valid_row_is_refused(project, seahorse, tmp_path, skip_bad, dry_run):
    """The articles of the second file are valid, but no rating is."""
    path = seahorse(*[seahorse_row(answers="Nope" + "\t" * 5)] * 136)
    report = load(
        project,
        "seahorse",
        path,
        companion=articles_file(tmp_path, "xsum-validation-1"),
        skip_bad=skip_bad,
        dry_run=dry_run,
        rejected_to=tmp_path / "rejects",
    )
    assert (report.refused, report.rejected, report.has_valid_rows) == (NO_VALID_ROW, 136, False)
    assert row_counts(project) == (0,) * 7
    assert revision(project) == 0
    assert not list(tmp_path.glob("*rejects*"))


def test_ratings_of_missing_summaries_are_refused_even_if_a_questionnaire_would_fit(project, tmp_path):
    rows = ["article_id,system,rater,question,value", "a,x,r,factual,yes", "a,x,q,factual,no"]
    report = load(project, "ratings", lines(tmp_path / "r.csv", *rows), dry_run=True)
    assert report.proposed is not None
    assert (report.refused, report.has_valid_rows) == (NO_VALID_ROW, False)


def test_a_file_for_another_questionnaire_is_still_refused_for_that_reason(project, tmp_path):
    row = {"id": "a", "model_id": "M", "decoded": "S.", "references": []}
    row |= {"expert_annotations": [{"fluency": 1}], "turker_annotations": []}
    report = load(project, "summeval", jsonl(tmp_path / "s.jsonl", row), skip_bad=True)
    assert report.rejected == 1
    assert "Import this file into a project with the questionnaire 'summeval'" in report.refused
    assert not report.has_valid_rows


def test_a_valid_file_writes_no_rejects_file(project, seahorse, tmp_path):
    load(project, "seahorse", seahorse(seahorse_row()), skip_bad=True, rejected_to=tmp_path / "rejects")
    assert not (tmp_path / "rejects").exists()


def test_a_refused_file_leaves_no_rejects_file(project, tmp_path):
    path = jsonl(
        tmp_path / "r.jsonl",
        {"bad": 1},
        {"article_id": "a", "system": "x", "rater": "r", "question": "q", "value": "1"},
    )
    report = load(project, "ratings", path, skip_bad=True, rejected_to=tmp_path / "rejects")
    assert report.refused
    assert not list(tmp_path.glob("*rejects*"))


def test_a_dry_run_writes_nothing_and_predicts_the_counts(project, seahorse, tmp_path):
    path = seahorse(seahorse_row(), seahorse_row(), "broken", seahorse_row("b-test-1"))
    predicted = load(project, "seahorse", path, dry_run=True, skip_bad=True, rejected_to=tmp_path / "rejects")
    assert row_counts(project) == (0,) * 7
    assert not (tmp_path / "rejects").exists()
    done = load(project, "seahorse", path, skip_bad=True)
    assert predicted.counts == done.counts
    assert new_counts(done)["ratings"] == Rating.objects.count() == 3


def test_a_csv_file_for_a_jsonl_format_is_one_problem_with_the_formats_that_read_it(project, tmp_path):
    path = lines(tmp_path / "r.csv", RATINGS, *["a,x,r,comprehensibility,no,S.,en"] * 136)
    report = load(project, "bartscore", path, skip_bad=True)
    assert [problem.found for problem in report.problems] == ["what seems to be a CSV file"]
    assert report.refused == (
        "The file cannot be read. Choose a format that fits its columns: Articles and summaries (XLSX, "
        "CSV, TSV, JSONL, JSON) or Ratings (CSV, TSV, XLSX, JSONL, JSON) or Scores (CSV, TSV, XLSX, JSON, "
        "JSONL)."
    )
    assert not load(project, "ratings", path).refused


def test_a_second_file_of_another_kind_is_refused_without_naming_formats(project, seahorse, tmp_path):
    articles = lines(tmp_path / "a.csv", "id,article", "xsum-validation-1,Text.")
    report = load(project, "seahorse", seahorse(seahorse_row()), companion=articles)
    assert [(problem.file, problem.field) for problem in report.problems] == [("a.csv", "file")]
    assert report.refused == "The file cannot be read."


def test_reading_stops_after_a_thousand_problems(project, seahorse):
    path = seahorse(*["broken"] * 2000)
    report = load(project, "seahorse", path)
    assert report.refused
    assert report.refused.startswith("There are more than 1,000 problems, so reading stopped.")
    assert ([problem.line for problem in report.problems], report.stopped) == ([*range(2, 1002)], True)


def test_skip_bad_accepts_many_invalid_rows_but_not_most_of_the_file(project, seahorse):
    broken = seahorse(*[seahorse_row(f"a-test-{number}") + "\nbroken" for number in range(1500)])
    report = load(project, "seahorse", broken, skip_bad=True)
    assert (report.refused, report.rejected) == ("", 1500)
    assert (len(report.problems), report.not_listed) == (1000, 500)
    report = load(project, "seahorse", seahorse(*["broken"] * 1500, seahorse_row()), skip_bad=True)
    assert report.refused
    assert "more than half of those read" in report.refused


@pytest.mark.parametrize("format_name", IMPORTERS)
def test_reading_stops_early_in_a_file_of_empty_objects(project, tmp_path, format_name):
    path = tmp_path / "empty.jsonl.gz"
    path.write_bytes(gzip.compress(b"{}\n" * 200_000))
    report = load(project, format_name, path, skip_bad=True)
    assert report.refused
    assert report.stopped
    assert len(report.problems) <= 1000


def test_free_text_in_the_question_column_is_refused_in_linear_time(project, tmp_path):
    rows = (f"a{number},s,r,Is it {number}?,yes,S.,en" for number in range(5_000))
    with within_cpu_seconds(30):
        report = load(project, "ratings", lines(tmp_path / "r.csv", RATINGS, *rows))
    assert "questions: found more than 100 up to line 102" in report.refused
    assert report.stopped


def test_an_error_before_the_commit_rolls_the_import_back(project, seahorse):
    importer = open_import("seahorse", seahorse(seahorse_row()))

    def fail(report):
        assert Rating.objects.count() == 1
        raise RuntimeError("the claim is lost")

    with pytest.raises(RuntimeError):
        import_file(project, importer, before_commit=fail)
    assert row_counts(project) == (0,) * 7
    assert revision(project) == 0
    assert gc.isenabled()


def test_an_import_is_refused_if_the_project_changed_meanwhile(project, seahorse):
    importer = open_import("seahorse", seahorse(seahorse_row("a-test-1"), seahorse_row("b-test-1")))

    def meddle(step, rows_read, rows_total):
        if step == "storing" and not Article.objects.exists():
            article = make_article(project, external_id="b-test-1", text="")
            make_summary(project, article=article, system=make_system(project, "t5_base"), text="Another.")

    with pytest.raises(ChangedMeanwhile, match=r"line 3, summary: found 'A ship froze\.'"):
        import_file(project, importer, progress=meddle)
    assert not Rating.objects.exists()


def test_the_portion_size_does_not_change_the_result(seahorse, tmp_path, monkeypatch):
    rows = [seahorse_row(f"a-test-{number % 9}", f"Text {number % 9}.") for number in range(25)]
    rows.insert(13, "broken")
    articles = articles_file(tmp_path, *(f"a-test-{number}" for number in range(9)))
    outcomes = []
    for size in (1, 4, 500):
        monkeypatch.setattr(import_file_module, "PORTION", size)
        project = make_project()
        report = load(project, "seahorse", seahorse(*rows), companion=articles, skip_bad=True)
        ratings = Rating.objects.filter(rater__project=project)
        outcomes.append(
            (
                row_counts(project),
                report.counts,
                Counter(ratings.values_list("summary__article__external_id", "rater__pseudonym")),
            )
        )
    assert outcomes[0] == outcomes[1] == outcomes[2]
    assert outcomes[0][0] == (9, 1, 9, 3, 25, 150, 0)


def test_progress_is_reported_for_both_passes(project, seahorse):
    reported = []
    importer = open_import("seahorse", seahorse(*[seahorse_row(f"a-test-{n}") for n in range(20)]))
    import_file(project, importer, progress=lambda *step: reported.append(step))
    assert [step for step, *_ in reported] == sorted(step for step, *_ in reported), "checking before storing"
    assert reported[0] == ("checking", 0, 21)
    assert reported[-1] == ("storing", 21, 21)


# SummEval


def test_individual_ratings_of_summeval_give_the_published_means(shared):
    project = make_project(SUMMEVAL)
    folder = shared / "data/summeval"
    report = load(project, "summeval", folder / "model_annotations.aligned.paired.12systems.jsonl.gz")
    assert new_counts(report) == {
        "articles": 100,
        "systems": 23,
        "summaries": 1200,
        "references": 1100,
        "ratings": 9600,
        "raters": 8,
        "answers": 38400,
    }
    assert Counter(Rater.objects.values_list("group", flat=True)) == {"expert": 3, "crowd": 5}
    by_summary = Rating.objects.values("summary").annotate(ratings=Count("pk"))
    assert set(by_summary.values_list("ratings", flat=True)) == {8}
    means = make_project(SUMMEVAL)
    options = {"labels": "{dimension}", "create_questionnaire": True}
    assert not load(means, "bartscore", folder / "expert_means.16systems.jsonl.gz", **options).refused
    Rater.objects.filter(project=project, group="crowd").update(status=Rater.Status.REMOVED)
    compared = 0
    for key in ("coherence", "consistency", "fluency", "relevance"):
        ours = labels_by_name(project, key)
        published = labels_by_name(means, key)
        assert len(published) == 1600
        for name, label in ours.items():
            assert label == pytest.approx(published[name], abs=1e-9)
            compared += 1
    assert compared == 4800


def labels_by_name(project, key):
    project.refresh_from_db()
    question = Question.objects.get(questionnaire=project.questionnaire, key=key)
    names = {
        pk: (article, system)
        for pk, article, system in Summary.objects.filter(project=project).values_list(
            "pk", "article__external_id", "system__name"
        )
    }
    return {names[pk]: label for pk, label in human_labels(project, question).items()}


def test_labels_that_fit_the_projects_questions_become_answers(project, tmp_path):
    labels = {"comprehensibility": 1, "repetition": 0.0, "grammar": 1}
    row = {"article_id": "a", "system": "x", "summary": "S.", "labels": labels}
    load(project, "examples", jsonl(tmp_path / "e.jsonl", row))
    assert sheet(Rating.objects.get()) == {"comprehensibility": "yes", "repetition": "no", "grammar": "yes"}


def test_labels_that_violate_the_protocol_are_invalid(project, tmp_path):
    row = {"article_id": "a", "system": "x", "summary": "S.", "labels": {"attribution": 1}}
    report = load(project, "examples", jsonl(tmp_path / "e.jsonl", row))
    assert [(problem.line, problem.field) for problem in report.problems] == [(1, "labels.attribution")]
    assert "of an earlier stage" in report.problems[0].expected


# Texts


def test_examples_are_offered_to_raters_but_not_their_references(project, tmp_path):
    rows = [
        {
            "article_id": "a",
            "system": name,
            "summary": f"By {name}.",
            "article": "Long.",
            "references": ["R."],
        }
        for name in ("x", "y")
    ]
    load(project, "examples", jsonl(tmp_path / "e.jsonl", *rows))
    wanted = dict(Summary.objects.values_list("system__name", "ratings_wanted"))
    assert wanted == {"x": 1, "y": 1, "reference-1": 0}
    assert System.objects.get(name="reference-1").is_reference
    assert take_assignment(make_rater(project)).summary.system.name in ("x", "y")


def test_an_article_keeps_its_language_if_a_later_file_has_none(project, tmp_path):
    row = {"article_id": "a", "system": "x", "summary": "S.", "language": "tr"}
    load(project, "examples", jsonl(tmp_path / "1.jsonl", row))
    load(project, "examples", jsonl(tmp_path / "2.jsonl", row | {"language": None, "system": "y"}))
    load(
        project,
        "examples",
        jsonl(tmp_path / "3.jsonl", row | {"language": None, "article_id": "b"}),
        language="vi",
    )
    assert dict(Article.objects.values_list("external_id", "language")) == {"a": "tr", "b": "vi"}


def test_ratings_without_texts_need_stored_summaries(project, tmp_path):
    path = lines(tmp_path / "r.csv", "article_id,system,rater,question,value", "a,x,r,comprehensibility,no")
    report = load(project, "ratings", path)
    assert report.problems[0].found == "no summary of article a by x"
    make_summary(project, article=make_article(project, external_id="a"), system=make_system(project, "x"))
    assert not load(project, "ratings", path).refused


TWICE = [
    "a,x,r,fluency,4,First.,en",
    "a,x,r,coherence,3,First.,en",
    "a,x,r,fluency,2,First.,en",
    "a,x,s,fluency,5,First.,en",
]


@pytest.mark.parametrize(
    ("repeated", "sheets"),
    [
        ("first", {"r": {"fluency": "4", "coherence": "3"}, "s": {"fluency": "5"}}),
        ("last", {"r": {"fluency": "2", "coherence": "3"}, "s": {"fluency": "5"}}),
        (
            "separate",
            {
                "r": {"fluency": "4", "coherence": "3"},
                "r (reading 2)": {"fluency": "2"},
                "s": {"fluency": "5"},
            },
        ),
    ],
)
def test_repeated_answers_are_stored_as_chosen_and_only_once(tmp_path, repeated, sheets):
    project = make_project(SUMMEVAL)
    path = lines(tmp_path / "r.csv", RATINGS, *TWICE)
    assert load(project, "ratings", path).refused
    assert not row_counts(project)[4]
    report = load(project, "ratings", path, repeated=repeated)
    assert len(report.notes) == 1
    assert {rating.rater.pseudonym: sheet(rating) for rating in Rating.objects.all()} == sheets
    before = row_counts(project)
    again = load(project, "ratings", path, repeated=repeated)
    assert not again.refused
    assert not new_counts(again)
    assert row_counts(project) == before


def test_other_answers_are_not_stored_over_those_that_counted_before(tmp_path):
    project = make_project(SUMMEVAL)
    path = lines(tmp_path / "r.csv", RATINGS, *TWICE)
    load(project, "ratings", path, repeated="first")
    report = load(project, "ratings", path, repeated="last")
    assert report.problems[0].expected.startswith("the stored answers of r to")
    assert not new_counts(load(project, "ratings", path, repeated="first"))


def test_a_reading_does_not_take_the_name_of_a_rater_with_a_login(tmp_path):
    project = make_project(SUMMEVAL)
    make_rater(project, pseudonym="r (reading 2)")
    path = lines(tmp_path / "r.csv", RATINGS, *TWICE)
    report = load(project, "ratings", path, repeated="separate")
    assert [(problem.line, problem.field) for problem in report.problems] == [(4, "rater")]
    assert not row_counts(project)[4]


def test_the_real_factuality_ratings_load(project, shared):
    path = shared / "data/xsum_hallucination/factuality_annotations_xsum_summaries.csv"
    mapping = ["article_id=bbcid", "rater=worker_id", "value=is_factual", "question==factual"]
    report = load(project, "ratings", path, map=mapping, create_questionnaire=True, reference_systems="Gold")
    assert new_counts(report)["ratings"] == 5564
    assert Summary.objects.count() == 1869
    project.refresh_from_db()
    labels = human_labels(project, project.questionnaire.questions.get())
    assert sum(label == 1 for label in labels.values()) + sum(label == 0 for label in labels.values()) < 1869


def test_readings_of_the_real_file_of_spans_are_stored_once(project, shared):
    path = shared / "data/xsum_hallucination/hallucination_annotations_xsum_summaries.csv"
    columns = ["article_id=bbcid", "rater=worker_id", "value=hallucination_type", "question==hallucination"]
    options = {"map": columns, "missing": [], "create_questionnaire": True, "repeated": "separate"}
    report = load(project, "ratings", path, **options)
    assert not report.refused
    assert new_counts(report)["ratings"] == new_counts(report)["answers"] == 11_185, "rows of the file"
    assert Rater.objects.filter(pseudonym="wid_0 (reading 2)").exists()
    assert not new_counts(load(project, "ratings", path, **options))


def test_a_malformed_file_stores_nothing(project, shared):
    path = shared / "data/goyal2022/test-500.newsroom.malformed.json.gz"
    report = load(project, "examples", path, skip_bad=True)
    assert [problem.line for problem in report.problems] == [4997]
    assert report.refused
    assert row_counts(project) == (0,) * 7


def test_an_answer_on_an_invalid_row_is_left_out(project, tmp_path):
    """r2 rated a different text, so the answer does not apply to the stored summary."""
    rows = ["a,x,r1,comprehensibility,no,First.,en", "a,x,r2,comprehensibility,no,Second.,en"]
    path = lines(tmp_path / "r.csv", RATINGS, *rows, "b,x,r2,comprehensibility,no,S.,en")
    report = load(project, "ratings", path, skip_bad=True)
    assert [(problem.line, problem.field) for problem in report.problems] == [(3, "summary")]
    assert set(Rating.objects.values_list("rater__pseudonym", "summary__text")) == {
        ("r1", "First."),
        ("r2", "S."),
    }


def test_a_rating_keeps_its_answers_on_valid_rows(tmp_path):
    project = make_project(SUMMEVAL)
    rows = ["a,x,r,fluency,4,First.,en", "a,x,r,coherence,3,Second.,en", "a,x,r,relevance,2,First.,en"]
    load(project, "ratings", lines(tmp_path / "r.csv", RATINGS, *rows), skip_bad=True)
    assert sheet(Rating.objects.get()) == {"fluency": "4", "relevance": "2"}


def test_problems_with_unprintable_names_can_be_stored_and_shown(project, tmp_path):
    row = {
        "article_id": "a",
        "system": "x",
        "summary": "S.",
        "labels": {"a\x00b\ud83d": "c", "d" * 5000: "e"},
    }
    path = tmp_path / "e.jsonl"
    path.write_text(json.dumps(row) + "\n")
    report = load(project, "examples", path)
    for problem in report.problems:
        assert json.dumps(problem.as_json(), ensure_ascii=False).encode()
        assert str(problem).isprintable()
        assert len(str(problem)) < 500


def test_long_articles_are_not_in_memory_together(project, tmp_path):
    rows = (
        {"article_id": f"a{n}", "system": "s", "summary": "S.", "article": "x" * 1_000_000} for n in range(40)
    )
    path = jsonl(tmp_path / "long.jsonl", *rows)
    tracemalloc.start()
    try:
        report = load(project, "examples", path, dry_run=True)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert report.counts["articles"].new == 40
    assert peak < 20_000_000
