"""The disagreement browser through its addresses."""

import csv
import io
import re

import pytest
from django.urls import reverse

from metaeval.actions import tag_disagreement, untag_disagreement
from metaeval.models import DisagreementTag
from scoring.evaluators import load_evaluator
from scoring.models import Score, SeenArticle
from tests.factories import make_member, make_project, make_rater, make_summary
from tests.metaeval.rated_projects import make_setup, rate, score

pytestmark = pytest.mark.django_db

QUESTION = "comprehensibility"
HTMX = {"HTTP_HX_REQUEST": "true"}


@pytest.fixture
def project(db):
    return make_project()


@pytest.fixture
def summaries(project):
    """Two that people call No and two that they call Yes; each first one is scored as people see it."""
    raters = [make_rater(project) for _ in range(3)]
    made = [make_summary(project, text=f"Text {number}.") for number in range(4)]
    for summary, answers in zip(
        made, (["no"] * 3, ["no", "no", "yes"], ["yes"] * 3, ["yes"] * 3), strict=True
    ):
        for rater, answer in zip(raters, answers, strict=True):
            rate(summary, rater, comprehensibility=answer)
    return made


@pytest.fixture
def setup(project, summaries):
    made = make_setup(project, "Judge")
    score(made, dict(zip(summaries, [0.1, 0.9, 0.8, 0.2], strict=True)))
    return made


@pytest.fixture
def researcher(project):
    return make_member(project, "researcher")


@pytest.fixture
def reader(client, researcher):
    client.force_login(researcher)
    return client


def listed(reader, project, **choices):
    answer = reader.get(reverse("disagreements", args=[project.slug]), choices)
    assert answer.status_code == 200
    return [int(pk) for pk in re.findall(r'id="summary-(\d+)"', answer.content.decode())]


def words(answer):
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def page(reader, project, **choices):
    return words(reader.get(reverse("disagreements", args=[project.slug]), choices))


def place(name, project, setup, summary, question=QUESTION):
    return reverse(name, args=[project.slug, setup.pk, question, summary.pk])


class TestTheList:
    @pytest.mark.usefixtures("setup")
    def test_it_holds_those_on_which_they_disagree_with_what_each_said(self, reader, project, summaries):
        assert listed(reader, project) == [summaries[1].pk, summaries[3].pk]
        shown = page(reader, project)
        assert "1 scored high, 1 scored low" in shown
        assert "Text 1. Label .333" in shown
        assert "✓ Yes 1 ✕ No 2 of 3 raters" in shown

    @pytest.mark.usefixtures("setup")
    def test_one_side_can_be_chosen(self, reader, project, summaries):
        assert listed(reader, project, side="high") == [summaries[1].pk]
        assert listed(reader, project, side="low") == [summaries[3].pk]

    def test_where_low_scores_are_better_the_order_is_turned_round(
        self, reader, project, summaries, monkeypatch
    ):
        monkeypatch.setattr(load_evaluator("length"), "higher_is_better", False)
        score(make_setup(project, "Errors"), dict(zip(summaries, [9, 1, 2, 8], strict=True)))
        assert listed(reader, project) == [summaries[1].pk, summaries[3].pk]

    def test_what_the_evaluator_has_seen_is_left_out_and_counted(self, reader, project, setup, summaries):
        SeenArticle.objects.create(setup=setup, article=summaries[1].article, role="in-context example")
        project.bump_revision()
        assert summaries[1].pk not in listed(reader, project)
        assert "1 article left out: seen by Judge" in page(reader, project)

    def test_what_another_evaluator_has_seen_stays(self, reader, project, setup, summaries):
        other = make_setup(project, "Other")
        score(other, dict.fromkeys(summaries, 1.0))
        SeenArticle.objects.create(setup=other, article=summaries[1].article, role="in-context example")
        project.bump_revision()
        assert summaries[1].pk in listed(reader, project, evaluator=setup.pk)

    def test_without_an_order_it_says_why_nothing_is_listed(self, reader, project, summaries):
        score(make_setup(project, "Constant"), dict.fromkeys(summaries, 1.0))
        assert "Here all scores are equal" in page(reader, project)

    @pytest.mark.usefixtures("summaries")
    def test_without_scores_it_says_what_to_do(self, reader, project):
        assert "No evaluator has scored a question yet" in page(reader, project)

    @pytest.mark.usefixtures("setup")
    def test_what_does_not_exist_is_refused(self, reader, project):
        for choices in (
            {"side": "left"},
            {"tag": "good"},
            {"evaluator": "0"},
            {"question": "x"},
            {"group": "x"},
        ):
            answer = reader.get(reverse("disagreements", args=[project.slug]), choices)
            assert answer.status_code == 400, choices

    def test_a_question_that_the_evaluator_does_not_score_is_named(self, reader, project, summaries):
        setup = make_setup(project, "Narrow")
        score(setup, dict(zip(summaries, [1.0, 2, 3, 4], strict=True)), "comprehensibility")
        answer = reader.get(
            reverse("disagreements", args=[project.slug]), {"evaluator": setup.pk, "question": "attribution"}
        )
        assert answer.status_code == 400
        assert "Narrow says nothing on" in words(answer)


class TestTags:
    def test_a_row_gets_its_tag_back_and_the_list_its_counts(
        self, reader, project, setup, summaries, researcher
    ):
        answer = reader.post(
            place("disagreement_tag", project, setup, summaries[1]),
            {"verdict": "evaluator", "note": "It likes long ones."},
            **HTMX,
        )
        shown = words(answer)
        assert f"evaluator wrong, by {researcher.username}" in shown
        assert "1 of 2 disagreements tagged: 1 evaluator wrong" in shown
        assert 'value="It likes long ones."' in answer.content.decode()
        assert 'id="counts" hx-swap-oob' in answer.content.decode()

    def test_without_scripts_it_leads_back_to_the_disagreement(self, reader, project, setup, summaries):
        answer = reader.post(
            place("disagreement_tag", project, setup, summaries[1]), {"verdict": "label"}, follow=True
        )
        assert answer.redirect_chain == [(place("disagreement", project, setup, summaries[1]), 302)]
        assert "label wrong" in words(answer)

    def test_the_list_can_be_narrowed_to_a_tag_and_to_what_has_none(
        self, reader, project, setup, summaries, researcher
    ):
        tag_disagreement(project, researcher, setup.pk, QUESTION, summaries[1].pk, "label")
        for tag, expected in (
            ("untagged", [summaries[3].pk]),
            ("tagged", [summaries[1].pk]),
            ("label", [summaries[1].pk]),
            ("evaluator", []),
        ):
            assert listed(reader, project, tag=tag) == expected, tag

    def test_an_empty_verdict_takes_the_tag_away(self, reader, project, setup, summaries, researcher):
        tag_disagreement(project, researcher, setup.pk, QUESTION, summaries[1].pk, "label")
        answer = reader.post(place("disagreement_tag", project, setup, summaries[1]), {"verdict": ""}, **HTMX)
        assert "0 of 2 disagreements tagged" in words(answer)
        assert not DisagreementTag.objects.current().exists()

    def test_tags_on_what_is_not_listed_any_more_are_told(
        self, reader, project, setup, summaries, researcher
    ):
        tag_disagreement(project, researcher, setup.pk, QUESTION, summaries[1].pk, "label")
        Score.objects.filter(setup=setup, summary=summaries[1]).update(value=0.15)
        project.bump_revision()
        assert "1 tag on summaries that are not listed any more" in page(reader, project)

    def test_a_verdict_that_there_is_not_is_refused(self, reader, project, setup, summaries):
        answer = reader.post(
            place("disagreement_tag", project, setup, summaries[1]), {"verdict": "x"}, **HTMX
        )
        assert answer.status_code == 400
        assert not DisagreementTag.objects.exists()


class TestOneDisagreement:
    def test_all_that_is_needed_to_decide_is_there(self, reader, project, setup, summaries):
        Score.objects.filter(setup=setup, summary=summaries[1]).update(
            explanation="Reads well, says the judge."
        )
        rater = make_rater(project, pseudonym="rater-zoe")
        rating = rate(summaries[1], rater, comprehensibility="no")
        rating.answers.update(comment="No verb in it.")
        shown = words(reader.get(place("disagreement", project, setup, summaries[1])))
        for text in (
            summaries[1].article.text,
            "Text 1.",
            "rater-zoe",
            "No verb in it.",
            "Reads well, says the",
        ):
            assert text in shown

    def test_a_row_of_the_list_gets_the_texts_alone(self, reader, project, setup, summaries):
        content = reader.get(place("disagreement", project, setup, summaries[1]), **HTMX).content.decode()
        assert "<html" not in content
        assert summaries[1].article.text in content

    def test_what_is_not_the_projects_is_not_found(self, reader, project, setup, summaries):
        other = make_project()
        for address in (
            place("disagreement", project, make_setup(other, "Judge"), summaries[1]),
            place("disagreement", project, setup, make_summary(other)),
            place("disagreement", project, setup, summaries[1], "no-such-question"),
        ):
            assert reader.get(address).status_code == 404


def test_the_file_holds_all_that_is_listed_with_its_tag(reader, project, setup, summaries, researcher):
    tag_disagreement(project, researcher, setup.pk, QUESTION, summaries[1].pk, "label", "=1+1")
    tag_disagreement(project, researcher, setup.pk, QUESTION, summaries[3].pk, "evaluator")
    untag_disagreement(project, researcher, setup.pk, QUESTION, summaries[3].pk)
    content = reader.get(reverse("disagreements_csv", args=[project.slug])).content.decode()
    rows = list(csv.DictReader(io.StringIO(content)))
    assert [(int(row["summary"]), row["side"], row["tag"]) for row in rows] == [
        (summaries[1].pk, "high", "label"),
        (summaries[3].pk, "low", ""),
    ]
    assert rows[0]["note"] == "'=1+1"  # a spreadsheet does not run it
    assert rows[0]["tagged_by"] == researcher.username
    assert float(rows[0]["score_percentile"]) == 0.875
