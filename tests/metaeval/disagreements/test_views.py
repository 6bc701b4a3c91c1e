"""The pages of disagreements."""

import csv
import io
import re

import pytest
from django.urls import reverse

from metaeval.disagreements.tags import tag_disagreement, untag_disagreement
from metaeval.models import DisagreementTag
from scoring.evaluators import load_evaluator
from scoring.models import Score, SeenArticle
from tests.factories import make_member, make_project, make_rater, make_summary
from tests.metaeval.rated_projects import make_setup, rate, score

pytestmark = pytest.mark.django_db

QUESTION = "comprehensibility"
HTMX = {"HTTP_HX_REQUEST": "true"}


@pytest.fixture
def summaries(project):
    """Return two summaries labelled No and two labelled Yes; the first of each has a matching score."""
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


def listed_summaries(reader, project, **choices):
    answer = reader.get(reverse("disagreements", args=[project.slug]), choices)
    assert answer.status_code == 200
    return [int(pk) for pk in re.findall(r'id="summary-(\d+)"', answer.content.decode())]


def text_of(answer):
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def page_text(reader, project, **choices):
    return text_of(reader.get(reverse("disagreements", args=[project.slug]), choices))


def disagreement_address(name, project, setup, summary, question=QUESTION):
    return reverse(name, args=[project.slug, setup.pk, question, summary.pk])


class TestList:
    @pytest.mark.usefixtures("setup")
    def test_disagreements_are_listed_with_label_and_answers(self, reader, project, summaries):
        assert listed_summaries(reader, project) == [summaries[1].pk, summaries[3].pk]
        shown = page_text(reader, project)
        assert "1 scored high, 1 scored low" in shown
        assert "Text 1. Label .333" in shown
        assert "✓ Yes 1 ✕ No 2 of 3 raters" in shown

    @pytest.mark.usefixtures("setup")
    def test_the_list_can_be_filtered_by_side(self, reader, project, summaries):
        assert listed_summaries(reader, project, side="high") == [summaries[1].pk]
        assert listed_summaries(reader, project, side="low") == [summaries[3].pk]

    def test_lower_is_better_scores_reverse_the_order(self, reader, project, summaries, monkeypatch):
        monkeypatch.setattr(load_evaluator("length"), "higher_is_better", False)
        score(make_setup(project, "Errors"), dict(zip(summaries, [9, 1, 2, 8], strict=True)))
        assert listed_summaries(reader, project) == [summaries[1].pk, summaries[3].pk]

    def test_articles_the_evaluator_has_seen_are_counted_as_left_out(self, reader, project, setup, summaries):
        SeenArticle.objects.create(setup=setup, article=summaries[1].article, role="in-context example")
        project.bump_revision()
        assert summaries[1].pk not in listed_summaries(reader, project)
        assert "1 article left out: seen by Judge" in page_text(reader, project)

    def test_articles_seen_on_another_question_are_listed(self, reader, project, setup, summaries):
        article = summaries[1].article
        SeenArticle.objects.create(setup=setup, article=article, dimension="another", role="example")
        project.bump_revision()
        assert summaries[1].pk in listed_summaries(reader, project)

    def test_articles_another_evaluator_has_seen_are_listed(self, reader, project, setup, summaries):
        other = make_setup(project, "Other")
        score(other, dict.fromkeys(summaries, 1.0))
        SeenArticle.objects.create(setup=other, article=summaries[1].article, role="in-context example")
        project.bump_revision()
        assert summaries[1].pk in listed_summaries(reader, project, evaluator=setup.pk)

    def test_constant_scores_explain_the_empty_list(self, reader, project, summaries):
        score(make_setup(project, "Constant"), dict.fromkeys(summaries, 1.0))
        assert "All scores are equal" in page_text(reader, project)

    @pytest.mark.usefixtures("summaries")
    def test_a_project_without_scores_explains_the_next_step(self, reader, project):
        assert "No evaluator has scored a question yet" in page_text(reader, project)

    @pytest.mark.usefixtures("setup")
    def test_unknown_choices_are_refused(self, reader, project):
        for choices in (
            {"side": "left"},
            {"tag": "good"},
            {"evaluator": "0"},
            {"question": "x"},
            {"group": "x"},
        ):
            answer = reader.get(reverse("disagreements", args=[project.slug]), choices)
            assert answer.status_code == 400, choices

    def test_a_question_the_evaluator_does_not_score_is_refused_by_name(self, reader, project, summaries):
        setup = make_setup(project, "Narrow")
        score(setup, dict(zip(summaries, [1.0, 2, 3, 4], strict=True)), "comprehensibility")
        answer = reader.get(
            reverse("disagreements", args=[project.slug]), {"evaluator": setup.pk, "question": "attribution"}
        )
        assert answer.status_code == 400
        assert "Narrow does not score" in text_of(answer)


class TestTags:
    def test_tagging_updates_the_row_and_the_counts(self, reader, project, setup, summaries, researcher):
        answer = reader.post(
            disagreement_address("disagreement_tag", project, setup, summaries[1]),
            {"verdict": "evaluator", "note": "It likes long ones."},
            **HTMX,
        )
        shown = text_of(answer)
        assert f"evaluator wrong, by {researcher.username}" in shown
        assert "1 of 2 disagreements tagged: 1 evaluator wrong" in shown
        assert 'value="It likes long ones."' in answer.content.decode()
        assert 'id="counts" hx-swap-oob' in answer.content.decode()

    def test_tagging_without_scripts_redirects_to_the_disagreement(self, reader, project, setup, summaries):
        answer = reader.post(
            disagreement_address("disagreement_tag", project, setup, summaries[1]),
            {"verdict": "label"},
            follow=True,
        )
        assert answer.redirect_chain == [
            (disagreement_address("disagreement", project, setup, summaries[1]), 302)
        ]
        assert "label wrong" in text_of(answer)

    def test_the_list_can_be_filtered_by_tag(self, reader, project, setup, summaries, researcher):
        tag_disagreement(project, researcher, setup.pk, QUESTION, summaries[1].pk, "label")
        for tag, expected in (
            ("untagged", [summaries[3].pk]),
            ("tagged", [summaries[1].pk]),
            ("label", [summaries[1].pk]),
            ("evaluator", []),
        ):
            assert listed_summaries(reader, project, tag=tag) == expected, tag

    def test_an_empty_verdict_removes_the_tag(self, reader, project, setup, summaries, researcher):
        tag_disagreement(project, researcher, setup.pk, QUESTION, summaries[1].pk, "label")
        answer = reader.post(
            disagreement_address("disagreement_tag", project, setup, summaries[1]), {"verdict": ""}, **HTMX
        )
        assert "0 of 2 disagreements tagged" in text_of(answer)
        assert not DisagreementTag.objects.current().exists()

    def test_tags_on_summaries_no_longer_listed_are_counted(
        self, reader, project, setup, summaries, researcher
    ):
        tag_disagreement(project, researcher, setup.pk, QUESTION, summaries[1].pk, "label")
        Score.objects.filter(setup=setup, summary=summaries[1]).update(value=0.15)
        project.bump_revision()
        assert "1 tag on summaries that are no longer listed" in page_text(reader, project)

    def test_an_unknown_verdict_is_refused(self, reader, project, setup, summaries):
        answer = reader.post(
            disagreement_address("disagreement_tag", project, setup, summaries[1]), {"verdict": "x"}, **HTMX
        )
        assert answer.status_code == 400
        assert not DisagreementTag.objects.exists()


class TestOneDisagreement:
    def test_the_page_shows_texts_answers_comments_and_explanation(self, reader, project, setup, summaries):
        Score.objects.filter(setup=setup, summary=summaries[1]).update(
            explanation="Reads well, says the judge."
        )
        rater = make_rater(project, pseudonym="rater-zoe")
        rating = rate(summaries[1], rater, comprehensibility="no")
        rating.answers.update(comment="No verb in it.")
        shown = text_of(reader.get(disagreement_address("disagreement", project, setup, summaries[1])))
        for text in (
            summaries[1].article.text,
            "Text 1.",
            "rater-zoe",
            "No verb in it.",
            "Reads well, says the",
        ):
            assert text in shown

    def test_htmx_requests_get_only_the_texts(self, reader, project, setup, summaries):
        content = reader.get(
            disagreement_address("disagreement", project, setup, summaries[1]), **HTMX
        ).content.decode()
        assert "<html" not in content
        assert summaries[1].article.text in content

    def test_disagreements_of_other_projects_are_not_found(self, reader, project, setup, summaries):
        other = make_project()
        for address in (
            disagreement_address("disagreement", project, make_setup(other, "Judge"), summaries[1]),
            disagreement_address("disagreement", project, setup, make_summary(other)),
            disagreement_address("disagreement", project, setup, summaries[1], "no-such-question"),
        ):
            assert reader.get(address).status_code == 404


def test_the_csv_lists_disagreements_with_their_tags(reader, project, setup, summaries, researcher):
    tag_disagreement(project, researcher, setup.pk, QUESTION, summaries[1].pk, "label", "=1+1")
    tag_disagreement(project, researcher, setup.pk, QUESTION, summaries[3].pk, "evaluator")
    untag_disagreement(project, researcher, setup.pk, QUESTION, summaries[3].pk)
    content = reader.get(reverse("disagreements_csv", args=[project.slug])).content.decode()
    rows = list(csv.DictReader(io.StringIO(content)))
    assert [(int(row["summary"]), row["side"], row["tag"]) for row in rows] == [
        (summaries[1].pk, "high", "label"),
        (summaries[3].pk, "low", ""),
    ]
    assert rows[0]["note"] == "'=1+1"  # escaped, so that spreadsheets do not run it
    assert rows[0]["tagged_by"] == researcher.username
    assert float(rows[0]["score_percentile"]) == 0.875
