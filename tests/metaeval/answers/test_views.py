"""The answers page and its files."""

import csv
import io

import pytest
from django.urls import reverse

from annotation import protocol
from annotation.models import Article, Summary
from annotation.projects.closing import close_campaign
from tests.factories import make_member, make_project, make_rater
from tests.metaeval.rated_projects import make_summaries, rate


@pytest.fixture
def project(db):
    return make_project(protocol.SEAHORSE)


@pytest.fixture
def rated(project):
    summaries = make_summaries(project, ["d1", "t1"], ["<a>", "b"])
    Article.objects.filter(external_id="d1").update(language="de")
    Article.objects.filter(external_id="t1").update(language="tr", dataset="mlsum")
    rater = make_rater(project)
    for summary, answer in zip(summaries, ("yes", "no", "yes"), strict=False):
        rate(summary, rater, comprehensibility=answer, repetition="yes")
    return project


def get_page(client, project, **query):
    answer = client.get(reverse("answers", args=[project.slug]), query)
    return answer.status_code, answer.content.decode()


def file_of(client, project, name, kind, **query):
    return client.get(reverse("answers_table", args=[project.slug, name, kind]), query)


def test_an_empty_project_says_what_comes_first(researcher, project):
    status, shown = get_page(researcher, project)
    assert status == 200
    assert "No summaries yet" in shown
    assert "Correlation between questions" in shown


def test_the_page_has_counts_means_and_correlations(researcher, rated):
    status, shown = get_page(researcher, rated)
    assert status == 200
    for text in ("German", "Turkish", "mlsum", "Rated twice or more", "&lt;a&gt;", "all labels of"):
        assert text in shown
    assert "<a>" not in shown


def test_choices_that_do_not_exist_are_refused(researcher, rated):
    for name in ("dataset", "articles", "coefficient", "group", "rows", "unasked", "correlated"):
        assert get_page(researcher, rated, **{name: "roc_auc"})[0] == 400, name


def test_articles_without_all_systems_are_named_when_they_are_left_out(researcher, rated):
    assert "Left out: 1 article without" in " ".join(
        get_page(researcher, rated, articles="complete")[1].split()
    )


def test_tables_are_files(researcher, rated):
    rows = list(csv.DictReader(io.StringIO(file_of(researcher, rated, "collected", "csv").content.decode())))
    assert [(row["place"], row["value"]) for row in rows if row["what"] == "ratings"] == [
        ("de", "2"),
        ("tr mlsum", "1"),
        ("all", "3"),
    ]
    printed = file_of(researcher, rated, "collected", "tex").content.decode()
    assert "Turkish, mlsum & 1 & 2 \\\\" in printed
    assert "Turkish, mlsum & 1 & 0 & 1" in printed, "five columns are two tables"
    assert "German" in file_of(researcher, rated, "systems", "tex").content.decode()
    assert "undefined" in file_of(researcher, rated, "questions", "md").content.decode()
    by_place = file_of(researcher, rated, "all_questions", "tex", rows="place").content.decode()
    assert "Turkish, mlsum, All systems & $1.000$" in by_place
    rows = csv.DictReader(
        io.StringIO(file_of(researcher, rated, "all_questions", "csv", rows="place").content.decode())
    )
    assert {(row["language"], row["dataset"], row["system"]) for row in rows} == {
        ("de", "", "<a>"),
        ("de", "", "b"),
        ("de", "", "all systems"),
        ("tr", "mlsum", "<a>"),
        ("tr", "mlsum", "all systems"),
        ("all", "all", "all systems"),
    }
    assert file_of(researcher, rated, "nothing", "csv").status_code == 404
    assert file_of(researcher, rated, "systems", "exe").status_code == 404


def test_correlations_can_be_of_single_answers(researcher, rated):
    printed = file_of(researcher, rated, "questions", "md", correlated="answers").content.decode()
    assert "fewer than two ratings with both answers" in printed


def test_questions_that_were_not_asked_can_count_as_no(researcher, rated):
    summary = Summary.objects.get(project=rated, article__external_id="t1", system__name="b")
    rate(summary, make_rater(rated), comprehensibility="no")

    def mean_of_repetition(**query):
        rows = csv.DictReader(
            io.StringIO(file_of(researcher, rated, "all_questions", "csv", **query).content.decode())
        )
        return next(float(r["value"]) for r in rows if (r["system"], r["question"]) == ("b", "repetition"))

    assert mean_of_repetition() == 1
    assert mean_of_repetition(unasked="no") == 0.5
    shown = get_page(researcher, rated, unasked="no")[1]
    assert "A question that was not asked counts as No." in shown
    assert "because an earlier answer ended the rating, counts as No." in shown, "the definition"


def test_intervals_hold_at_every_look_until_the_campaign_is_closed(client, compared_at_length):
    client.force_login(make_member(compared_at_length, "researcher"))

    def read(**query):
        rows = csv.DictReader(
            io.StringIO(file_of(client, compared_at_length, "systems", "csv", **query).content.decode())
        )
        return [float(row["high"]) - float(row["low"]) for row in rows]

    live, one_look = read(), read(interval="one_look")
    assert all(wide > narrow for wide, narrow in zip(live, one_look, strict=True))
    shown = " ".join(get_page(client, compared_at_length)[1].split())
    assert '<a href="?interval=one_look">Show those for a single look</a>' in shown
    assert get_page(client, compared_at_length, interval="x")[0] == 400
    close_campaign(compared_at_length, make_member(compared_at_length, "manager"))
    assert read() == one_look
