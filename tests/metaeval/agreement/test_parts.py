"""Agreement by dataset and by week."""

import csv
import io
import json
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotation import protocol
from annotation.models import Article, Rating
from metaeval.agreement.method import BY_DATASET, BY_LANGUAGE, BY_WEEK
from metaeval.agreement.parts import summaries_by
from metaeval.agreement.report import agreement_rows
from metaeval.snapshot.snapshot import snapshot_of
from tests.factories import make_member, make_project, make_rater
from tests.metaeval.rated_projects import RATED_AT, make_summaries, rate

# Of four articles by one system: the answers of two raters.
ANSWERS = [("yes", "yes"), ("yes", "no"), ("no", "no"), ("yes", "yes")]


@pytest.fixture
def project(db):
    """Return four summaries rated on 4 May 2026; the second rating of the last two came later."""
    project = make_project(protocol.SEAHORSE)
    summaries = make_summaries(project, ["a", "b", "c", "d"], ["s"])
    Article.objects.filter(external_id__in=["a", "b"]).update(dataset="xsum", language="de")
    Article.objects.filter(external_id__in=["c", "d"]).update(dataset="mlsum", language="en")
    for rater, place in ((make_rater(project), 0), (make_rater(project), 1)):
        for summary, answers in zip(summaries, ANSWERS, strict=True):
            rate(summary, rater, comprehensibility=answers[place])
    for summary, days in ((summaries[2], 6), (summaries[3], 7)):
        later = summary.ratings.order_by("pk").last()
        Rating.objects.filter(pk=later.pk).update(completed_at=RATED_AT + timedelta(days=days))
    project.bump_revision()
    return project


def rows_of(client, project, **query):
    answer = client.get(reverse("agreement_table", args=[project.slug, "csv"]), query)
    return [
        row
        for row in csv.DictReader(io.StringIO(answer.content.decode()))
        if row["question"] == "comprehensibility" and row["statistic"] == "pairwise_agreement"
    ]


def weeks_of(project):
    found = summaries_by(project, snapshot_of(project), BY_WEEK)
    return [found.language_names[code] if code >= 0 else "" for code in found.languages.tolist()]


def test_a_summary_belongs_to_the_week_of_its_second_rating(project):
    assert weeks_of(project) == ["2026-W19", "2026-W19", "2026-W19", "2026-W20"]


def test_a_third_rating_leaves_a_summary_in_its_week(project):
    third = rate(project.summaries.order_by("pk").first(), make_rater(project), comprehensibility="no")
    Rating.objects.filter(pk=third.pk).update(completed_at=RATED_AT + timedelta(days=30))
    project.bump_revision()
    assert weeks_of(project)[0] == "2026-W19"


def test_summaries_with_one_rating_are_in_no_week(project):
    Rating.objects.filter(summary__article__external_id="b").last().delete()
    project.bump_revision()
    assert weeks_of(project)[1] == ""


def test_agreement_is_told_apart_by_week(researcher, project):
    found = {row["week"]: (row["value"], row["units"]) for row in rows_of(researcher, project, by=BY_WEEK)}
    assert found == {
        "all": ("0.75", "4"),
        "2026-W19": (str(2 / 3), "3"),
        "2026-W20": ("1.0", "1"),
    }


def test_datasets_that_are_languages_have_the_languages_agreement(researcher, project):
    def measured(name, **query):
        rows = rows_of(researcher, project, **query)
        return {row[name]: (row["value"], row["low"], row["units"]) for row in rows}

    by_language, by_dataset = measured(BY_LANGUAGE), measured(BY_DATASET, by=BY_DATASET)
    assert by_dataset == {
        "all": by_language["all"],
        "xsum": by_language["de"],
        "mlsum": by_language["en"],
    }


def test_the_page_has_a_column_for_each_part(researcher, project):
    def shown(**query):
        answer = researcher.get(reverse("agreement", args=[project.slug]), query)
        return answer.status_code, answer.content.decode()

    assert "All datasets" in shown(by=BY_DATASET)[1]
    status, page = shown(by=BY_WEEK, language="de", question="comprehensibility")
    assert (status, "2026-W20" in page, "All weeks" in page) == (200, True, True)
    assert "the week in which it got its second rating" in page
    assert shown(by="month")[0] == 400
    printed = researcher.get(reverse("agreement_table", args=[project.slug, "tex"]), {"by": BY_WEEK})
    assert "2026-W19" in printed.content.decode()


@pytest.mark.parametrize("by", [BY_DATASET, BY_WEEK])
def test_file_api_and_command_have_the_same_rows(client, project, by, capsys):
    client.force_login(make_member(project, "researcher"))
    rows = agreement_rows(project, by=by)
    assert {row[by] for row in rows} > {"all"}
    assert "language" not in rows[0]
    assert client.get(f"/api/projects/{project.slug}/agreement/", {"by": by}).json()["results"] == rows
    call_command("agreement", "--project", project.slug, "--by", by, "--format", "json")
    assert json.loads(capsys.readouterr().out) == rows
    mine = [row for row in rows if row["question"] == "comprehensibility"]
    values = [row["value"] for row in mine if row["statistic"] == "pairwise_agreement"]
    assert values == pytest.approx([float(row["value"]) for row in rows_of(client, project, by=by)])


def test_a_language_and_other_parts_are_not_both_chosen(client, project, tmp_path):
    client.force_login(make_member(project, "researcher"))
    answer = client.get(f"/api/projects/{project.slug}/agreement/", {"by": "week", "language": "de"})
    assert answer.status_code == 400
    assert "not together with by=week" in answer.json()["detail"]
    with pytest.raises(CommandError, match="--by needs --project"):
        call_command("agreement", "--input", str(tmp_path / "ratings.csv"), "--by", "week")
