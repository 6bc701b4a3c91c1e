"""The pages with results, through their addresses: what they show, what they cost, what they refuse."""

import csv
import io
import re
from html.parser import HTMLParser

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation import protocol
from annotation.actions.people import remove_rater
from annotation.models import Project
from metaeval.agreement.method import AgreementMethod
from metaeval.agreement.page import HEADLINES
from metaeval.agreement.report import agreement_rows
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.templatetags.results import figure, short_figure
from scoring.models import SeenArticle
from tests.factories import make_member, make_project, make_rater, make_summary
from tests.metaeval.asked import rows_of
from tests.metaeval.rated_projects import make_setup, make_summaries, rate, score

PAYLOAD = "<script>alert('x')</script>\"&"
PAGES = ("metaeval", "agreement")
HTMX = {"HTTP_HX_REQUEST": "true"}


@pytest.fixture
def project(db):
    return make_project(protocol.SUMMEVAL)


@pytest.fixture
def raters(project):
    return [make_rater(project) for _ in range(2)]


@pytest.fixture
def judged(project, raters):
    """Six summaries rated by two raters each, and scored by two evaluators."""
    summaries = make_summaries(project, ["first", "second"], ["a", "b", "c"])
    for summary, answers in zip(summaries, ("12", "23", "35", "22", "44", "55"), strict=True):
        for rater, answer in zip(raters, answers, strict=True):
            rate(summary, rater, coherence=answer, fluency=answer)
    for label, values in (("ROUGE-1", [1.0, 3.0, 2.0, 2.0, 4.0, 6.0]), ("Length", [5.0] * 6)):
        score(make_setup(project, label), dict(zip(summaries, values, strict=True)))
    return project


@pytest.fixture
def researcher(client, project):
    client.force_login(make_member(project, "researcher"))
    return client


def address(name, project, *rest):
    return reverse(name, args=[project.slug, *rest])


class Reader(HTMLParser):
    """Ids with the text within, all tags, and what would run or style inline."""

    def __init__(self, page):
        super().__init__()
        self.open, self.texts, self.tags, self.inline = [], {}, [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.inline += [name for name, _ in attributes if name == "style" or name.startswith(("on", "hx-on"))]
        if tag not in ("input", "meta", "link", "br"):
            self.open.append((tag, dict(attributes).get("id")))

    def handle_endtag(self, tag):
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data):
        for _, identifier in self.open:
            if identifier:
                self.texts[identifier] = self.texts.get(identifier, "") + data

    def text(self, identifier):
        return " ".join(self.texts[identifier].split())


def read(response):
    assert response.status_code == 200
    return Reader(response.content.decode())


def cells(response):
    """Text of each cell that holds a figure, by its id."""
    page = read(response)
    return {name: page.text(name) for name in page.texts if name.startswith("figure-")}


@pytest.mark.parametrize("page", [*PAGES, "levels_csv", "systems_csv"])
class TestWhoMaySeeIt:
    def test_managers_and_researchers_may(self, client, project, page):
        for role in ("manager", "researcher"):
            client.force_login(make_member(project, role))
            assert client.get(address(page, project)).status_code == 200

    def test_raters_may_not(self, client, project, page):
        client.force_login(make_rater(project).user)
        assert client.get(address(page, project)).status_code == 403

    def test_strangers_do_not_learn_that_it_exists(self, client, project, page):
        client.force_login(make_member(make_project(), "manager"))
        assert client.get(address(page, project)).status_code == 404

    def test_whoever_is_not_signed_in_is_sent_to_sign_in(self, client, project, page):
        answer = client.get(address(page, project))
        assert answer.status_code == 302
        assert answer.url.startswith(reverse("sign_in"))

    def test_it_is_only_read(self, researcher, project, page):
        assert researcher.post(address(page, project)).status_code == 405


@pytest.mark.parametrize("page", PAGES)
class TestLive:
    def test_nothing_new_is_answered_with_204_at_the_cost_of_who_asks(self, researcher, judged, page):
        revision = Project.objects.get(pk=judged.pk).revision
        with CaptureQueriesContext(connection) as captured:
            answer = researcher.get(address(page, judged), {"revision": revision}, **HTMX)
        assert (answer.status_code, answer.content) == (204, b"")
        # session, user, project with its revision, and two for the person's part in it
        assert len(captured) <= 5
        assert not any("answer" in query["sql"] or "scoring" in query["sql"] for query in captured)

    def test_a_new_rating_changes_the_fragment(self, researcher, judged, raters, page):
        before = researcher.get(address(page, judged), **HTMX)
        revision = re.search(r'name="revision" value="(\d+)"', before.content.decode())[1]
        for rater in raters:
            rate(make_summary(judged), rater, coherence="1", fluency="1")
        after = researcher.get(address(page, judged), {"revision": revision}, **HTMX)
        assert after.status_code == 200
        assert "12 ratings" in read(before).text("status")
        assert "14 ratings" in read(after).text("status")

    def test_a_removed_rater_changes_the_fragment(self, researcher, judged, raters, page):
        revision = Project.objects.get(pk=judged.pk).revision
        remove_rater(raters[0])
        after = researcher.get(address(page, judged), {"revision": revision}, **HTMX)
        assert "6 ratings" in read(after).text("status")

    def test_the_fragment_replaces_only_places_that_the_page_has(self, researcher, judged, page):
        whole = read(researcher.get(address(page, judged)))
        fragment = read(researcher.get(address(page, judged), **HTMX))
        replaced = [
            attributes["id"]
            for _, attributes in fragment.tags
            if attributes.get("hx-swap-oob") == "innerHTML"
        ]
        present = [attributes.get("id") for _, attributes in whole.tags]
        assert len(replaced) >= 6
        assert all(present.count(identifier) == 1 for identifier in replaced)
        assert "<html" not in str(fragment.tags)

    def test_controls_and_opened_details_lie_outside_of_what_is_replaced(self, researcher, judged, page):
        fragment = read(researcher.get(address(page, judged), **HTMX))
        assert not {"select", "details", "form"} & {tag for tag, _ in fragment.tags}

    def test_going_back_in_the_history_gets_the_whole_page(self, researcher, judged, page):
        answer = researcher.get(address(page, judged), HTTP_HX_HISTORY_RESTORE_REQUEST="true", **HTMX)
        assert "<html" in answer.content.decode()

    def test_it_asks_for_news_within_two_seconds_with_the_revision_it_shows(self, researcher, judged, page):
        tags = read(researcher.get(address(page, judged))).tags
        (asking,) = (attributes for _, attributes in tags if "every" in attributes.get("hx-trigger", ""))
        assert asking["hx-trigger"] == "every 1500ms"
        assert asking["hx-include"] == "#status"


@pytest.mark.parametrize("page", PAGES)
def test_nothing_runs_or_styles_inline(researcher, judged, page):
    answer = read(researcher.get(address(page, judged)))
    assert answer.inline == []
    assert all(attributes.get("src") for tag, attributes in answer.tags if tag == "script")


@pytest.mark.parametrize("page", PAGES)
def test_an_empty_project_says_what_to_do_next(client, project, page):
    client.force_login(make_member(project, "manager"))
    answer = client.get(address(page, project))
    assert "No ratings yet" in read(answer).text("numbers")
    buttons = [each.get("href") for _, each in read(answer).tags if each.get("class") == "button"]
    assert reverse("imports", args=[project.slug]) in buttons


def test_agreement_says_when_no_summary_is_rated_twice(researcher, project, raters):
    rate(make_summary(project), raters[0], coherence="1")
    page = read(researcher.get(address("agreement", project)))
    assert "No summary is rated twice yet1 rating, each of another summary." in page.text("numbers")


def test_a_researcher_is_not_sent_where_only_managers_may_go(researcher, project):
    answer = researcher.get(address("metaeval", project)).content.decode()
    assert reverse("imports", args=[project.slug]) not in answer
    assert reverse("people", args=[project.slug]) not in answer


def test_labels_without_scores_say_to_run_an_evaluator(researcher, project, raters):
    rate(make_summary(project), raters[0], coherence="3")
    answer = researcher.get(address("metaeval", project))
    assert "No scores yet" in read(answer).text("numbers")
    assert reverse("runs", args=[project.slug]) in answer.content.decode()


class TestMetaeval:
    def test_it_shows_the_reports_values_and_n(self, researcher, judged):
        shown = cells(researcher.get(address("metaeval", judged)))
        for row in rows_of(judged):
            setup = judged.setups.get(label=row["evaluator"])
            text = shown[f"figure-{setup.pk}-{row['dimension']}"]
            if row["value"] is None:
                assert text == f"undefined{row['reason']}"
            else:
                assert text.startswith(f"{row['value']:.3f}".removeprefix("0"))
                assert text.endswith(f"n {row['n']}")

    def test_undefined_is_shown_with_its_reason_and_never_as_0(self, researcher, judged):
        setup = judged.setups.get(label="Length")
        shown = cells(researcher.get(address("metaeval", judged)))
        assert shown[f"figure-{setup.pk}-coherence"] == "undefinedall scores equal"

    def test_level_and_coefficient_come_from_the_address(self, researcher, judged):
        answer = researcher.get(address("metaeval", judged), {"level": "article", "coefficient": "kendall_b"})
        setup = judged.setups.get(label="ROUGE-1")
        (row,) = (
            row
            for row in rows_of(judged, level="article", coefficient="kendall_b")
            if (row["evaluator"], row["dimension"]) == ("ROUGE-1", "coherence")
        )
        assert cells(answer)[f"figure-{setup.pk}-coherence"].startswith(f"{row['value']:.3f}"[1:])
        assert "Kendall's τ-b, mean over articles" in read(answer).text("lede")

    @pytest.mark.parametrize(
        "wrong",
        [{"level": "x"}, {"coefficient": "x"}, {"language": "xx"}, {"group": "x"}, {"only": "99999"}],
    )
    def test_a_choice_that_does_not_exist_is_refused(self, researcher, judged, wrong):
        answer = researcher.get(address("metaeval", judged), wrong)
        assert answer.status_code == 400
        assert "expected one of" in answer.content.decode()

    def test_a_chosen_figure_is_drawn_with_its_summaries(self, researcher, judged):
        setup = judged.setups.get(label="ROUGE-1")
        answer = researcher.get(address("metaeval", judged), {"evaluator": setup.pk, "question": "fluency"})
        page = read(answer)
        assert "ROUGE-1 · Fluency" in page.text("charts")
        drawn = [each.get("class", "") for tag, each in page.tags if tag == "svg"]
        charts = [name for name in drawn if name in ("chart scatter", "chart histogram")]
        assert charts == ["chart scatter", "chart histogram", "chart histogram"]
        assert "6 summaries of 2 articles by 3 systems" in page.text("charts")
        current = [
            attributes["id"] for _, attributes in page.tags if attributes.get("aria-current") == "true"
        ]
        assert current == [f"figure-{setup.pk}-fluency"]

    def test_a_question_alone_is_drawn_with_the_first_evaluator_that_scores_it(self, researcher, judged):
        question = judged.questionnaire.questions.last()
        drawn = researcher.get(address("metaeval", judged), {"question": question.key}).context["page"].drawn
        assert drawn.figure.labels.key == question.key

    def test_an_evaluator_alone_is_drawn_on_its_first_question(self, researcher, judged):
        setup = judged.setups.order_by("pk").last()
        drawn = researcher.get(address("metaeval", judged), {"evaluator": setup.pk}).context["page"].drawn
        assert drawn.figure.evaluator.label == setup.label

    def test_a_chosen_figure_that_is_gone_gives_way_to_the_first(self, researcher, judged):
        answer = researcher.get(address("metaeval", judged), {"evaluator": "0", "question": "gone"})
        assert "Length · Coherence" in read(answer).text("charts")

    def test_every_level_and_coefficient_of_the_pair_stands_beside(self, researcher, judged):
        setup = judged.setups.get(label="ROUGE-1")
        text = read(
            researcher.get(address("metaeval", judged), {"evaluator": setup.pk, "question": "coherence"})
        ).text("behind")
        for level in ("pooled", "article", "system"):
            for coefficient in ("pearson", "spearman", "kendall_b"):
                (row,) = (
                    row
                    for row in rows_of(judged, level=level, coefficient=coefficient)
                    if (row["evaluator"], row["dimension"]) == ("ROUGE-1", "coherence")
                )
                assert f"{row['value']:.3f}".removeprefix("0") in text
        assert "undefined: ROC AUC needs a yes/no question" in text

    def test_summaries_that_are_ranked_furthest_apart_can_be_opened(self, researcher, judged):
        """Labels 1.5 2.5 4 2 4 5, scores 1 3 2 2 4 6: the third is scored too low, the second too high."""
        setup = judged.setups.get(label="ROUGE-1")
        answer = researcher.get(address("metaeval", judged), {"evaluator": setup.pk, "question": "coherence"})
        _, second, third, *_ = judged.summaries.order_by("pk")
        text = " ".join(answer.content.decode().split())
        for summary, direction in ((second, "scored high"), (third, "scored low")):
            link = reverse("summary", args=[judged.slug, summary.pk])
            assert re.search(rf'<a href="{link}">[^<]*</a> <span class="muted">. {direction}<', text)

    def test_equal_scores_are_not_apart_from_labels_that_may_stand_where_they_do(self, researcher, judged):
        tied = make_setup(judged, "Tied")
        summaries = list(judged.summaries.order_by("pk"))
        score(tied, dict(zip(summaries, [0.0] * 5 + [1.0], strict=True)), "coherence")
        answer = researcher.get(address("metaeval", judged), {"evaluator": tied.pk, "question": "coherence"})
        assert "Furthest apart" not in answer.content.decode()

    def test_articles_left_out_are_named_above_the_table(self, researcher, judged):
        setup = judged.setups.get(label="ROUGE-1")
        article = judged.articles.first()
        SeenArticle.objects.create(setup=setup, article=article, role="in-context example")
        judged.bump_revision()
        page = read(researcher.get(address("metaeval", judged)))
        assert "1 article left out: seen by ROUGE-1." in page.text("lede")
        assert "3 summaries have a human label" in page.text("lede")

    def test_where_many_have_seen_articles_only_their_number_is_above_the_table(self, researcher, judged):
        other = make_setup(judged, "Learnt")
        score(other, dict.fromkeys(judged.summaries.all(), 1.0), "coherence")
        setups = (judged.setups.get(label="ROUGE-1"), other)
        for setup, article in zip(setups, judged.articles.order_by("pk"), strict=False):
            SeenArticle.objects.create(setup=setup, article=article, role="in-context example")
        judged.bump_revision()
        lede = read(researcher.get(address("metaeval", judged))).text("lede")
        assert "2 articles left out, each seen by one at least of the evaluators compared" in lede

    def test_the_definition_of_the_number_at_hand_stands_on_the_page(self, researcher, judged):
        text = read(researcher.get(address("metaeval", judged), {"coefficient": "kendall_b"})).text("how")
        assert "τ-b = (C − D)" in text
        assert "Human label: the mean over raters in good standing" in text
        assert "left out for all of them" in text

    def test_compared_evaluators_can_be_picked(self, researcher, judged):
        setup = judged.setups.get(label="ROUGE-1")
        shown = cells(researcher.get(address("metaeval", judged), {"only": setup.pk}))
        assert {name.split("-")[1] for name in shown} == {str(setup.pk)}

    def test_it_costs_the_same_for_many_summaries(self, researcher, judged, raters):
        def queries():
            with CaptureQueriesContext(connection) as captured:
                researcher.get(address("metaeval", judged))
            return len(captured)

        before = queries()
        for _ in range(10):
            rate(make_summary(judged), raters[0], coherence="1")
        assert queries() == before


class TestAgreement:
    def test_it_shows_the_reports_values_and_n(self, researcher, judged):
        shown = cells(researcher.get(address("agreement", judged)))
        rows = [row for row in agreement_rows(judged, language="all") if row["statistic"] in HEADLINES]
        for row in rows:
            text = shown[f"figure-{row['question']}-all-{row['statistic']}"]
            if row["value"] is None:
                assert text == f"undefined{row['reason']}"
            else:
                ends = (
                    "no interval"
                    if row["low"] is None
                    else " to ".join(short_figure(row[end]) for end in ("low", "high"))
                )
                assert text == f"{figure(row['value'])}{ends}n {row['units']}"
        assert any(row["low"] is not None for row in rows)

    def test_one_language_has_a_column_for_the_chosen_statistic_too(self, researcher, judged):
        assert "figure-coherence-all-cohen_kappa" not in cells(researcher.get(address("agreement", judged)))
        chosen = cells(researcher.get(address("agreement", judged), {"statistic": "cohen_kappa"}))
        assert "figure-coherence-all-cohen_kappa" in chosen

    def test_without_intervals_there_are_none(self, researcher, judged):
        shown = cells(researcher.get(address("agreement", judged), {"interval": "none"}))
        assert not any(" to " in text for text in shown.values())

    def test_skewed_answers_are_said_to_keep_alpha_low(self, researcher):
        """18 summaries two yes, 2 one yes and one no: 90% agree, alpha is -.026."""
        project = make_project()
        raters = [make_rater(project) for _ in range(2)]
        for number in range(20):
            summary = make_summary(project)
            for rater, answer in zip(raters, ("yes", "no" if number < 2 else "yes"), strict=True):
                rate(summary, rater, comprehensibility="yes", grammar=answer)
        researcher.force_login(make_member(project, "researcher"))
        page = read(researcher.get(address("agreement", project), {"question": "grammar"}))
        said = "Two raters give the same answer in 90% of pairs, yet α is −.026: 95% of the answers are Yes"
        assert said in page.text("notes")
        assert said in page.text("charts")

    def test_answers_that_are_not_skewed_need_no_explanation(self, researcher, judged):
        assert "yet α" not in read(researcher.get(address("agreement", judged))).text("notes")

    def test_several_languages_have_a_column_each_of_the_chosen_statistic(self, researcher, judged, raters):
        german = make_summary(judged, language="de")
        for rater in raters:
            rate(german, rater, coherence="2")
        answer = researcher.get(address("agreement", judged), {"statistic": "pairwise_agreement"})
        shown = cells(answer)
        assert shown["figure-coherence-de-pairwise_agreement"] == "1.000no intervaln 1"
        assert "figure-coherence-en-pairwise_agreement" in shown
        assert not any("krippendorff" in name for name in shown)
        assert "German" in read(answer).text("numbers")

    def test_a_chosen_question_shows_how_answers_fell_together(self, researcher, judged):
        page = read(researcher.get(address("agreement", judged), {"question": "fluency"}))
        assert "Fluency" in page.text("charts")
        assert "6 summaries with two ratings or more: 12 ratings by 2 raters" in page.text("charts")
        assert "Where raters differ: Fluency" in page.text("behind")
        assert "Counted are finished ratings by raters in good standing" in page.text("how")

    @pytest.mark.parametrize(
        "wrong",
        [
            {"statistic": "x"},
            {"interval": "articles"},
            {"scale": "ratio"},
            {"group": "x"},
            {"language": "xx"},
        ],
    )
    def test_a_choice_that_does_not_exist_is_refused(self, researcher, judged, wrong):
        assert researcher.get(address("agreement", judged), wrong).status_code == 400

    def test_summaries_rated_once_are_counted_beside(self, researcher, judged, raters):
        rate(make_summary(judged), raters[0], coherence="1")
        page = read(researcher.get(address("agreement", judged), {"question": "coherence"}))
        assert "summaries with fewer than two ratings: 1" in page.text("charts")


class TestCsv:
    def table(self, answer):
        assert answer["Content-Type"] == "text/csv; charset=utf-8"
        assert "attachment" in answer["Content-Disposition"]
        return list(csv.DictReader(io.StringIO(answer.content.decode(), newline="")))

    def test_meta_evaluation_has_the_pages_numbers(self, researcher, judged):
        chosen = {"level": "article", "coefficient": "kendall_b"}
        found = self.table(researcher.get(address("metaeval_table", judged, "csv"), chosen))
        expected = rows_of(judged, **chosen)
        assert [(row["evaluator"], row["dimension"], row["n"]) for row in found] == [
            (row["evaluator"], row["dimension"], str(row["n"])) for row in expected
        ]
        assert [row["value"] for row in found] == [
            "" if row["value"] is None else repr(row["value"]) for row in expected
        ]

    def test_the_chosen_pair_comes_at_every_level_and_by_system(self, researcher, judged):
        setup = judged.setups.get(label="ROUGE-1")
        question = judged.questionnaire.questions.first()
        chosen = {"evaluator": setup.pk, "question": question.key}
        levels = self.table(researcher.get(address("levels_csv", judged), chosen))
        assert {row["evaluator"] for row in levels} == {"ROUGE-1"}
        assert {row["dimension"] for row in levels} == {question.dimension}
        assert len({(row["level"], row["coefficient"]) for row in levels}) == len(LEVELS) * len(COEFFICIENTS)
        systems = self.table(researcher.get(address("systems_csv", judged), chosen))
        page = researcher.get(address("metaeval", judged), chosen).context["page"]
        assert [(row["system"], row["label"], row["score"], row["n"]) for row in systems] == [
            (row.name, repr(row.label), repr(row.score), str(row.n)) for row in page.drawn.systems
        ]
        assert systems

    def test_agreement_has_the_pages_numbers(self, researcher, judged):
        found = self.table(researcher.get(address("agreement_table", judged, "csv"), {"scale": "interval"}))
        expected = agreement_rows(judged, method=AgreementMethod("interval"))
        assert [row["value"] for row in found] == [
            "" if row["value"] is None else repr(row["value"]) for row in expected
        ]

    def test_the_page_links_to_the_csv_of_what_it_shows(self, researcher, judged):
        page = researcher.get(address("metaeval", judged), {"level": "system"}).content.decode()
        assert f"{address('metaeval_table', judged, 'csv')}?level=system" in page

    def test_a_name_that_a_spreadsheet_would_run_is_made_harmless(self, researcher, judged):
        judged.setups.filter(label="Length").update(label="=cmd|'/c calc'!A1")
        judged.bump_revision()
        found = self.table(researcher.get(address("metaeval_table", judged, "csv")))
        assert {row["evaluator"] for row in found} == {"'=cmd|'/c calc'!A1", "ROUGE-1"}


def test_names_are_escaped_everywhere_also_within_charts(researcher, judged):
    judged.setups.filter(label="ROUGE-1").update(label=f"A{PAYLOAD}", signature=PAYLOAD)
    judged.systems.filter(name="a").update(name=PAYLOAD)
    judged.bump_revision()
    setup = judged.setups.get(signature=PAYLOAD)
    answer = researcher.get(address("metaeval", judged), {"evaluator": setup.pk, "question": "coherence"})
    text = answer.content.decode()
    assert "<script>alert" not in text
    assert PAYLOAD in read(answer).text("charts")
    assert PAYLOAD in read(answer).text("behind")


def test_a_foreign_choice_in_the_address_is_not_repeated_unescaped(researcher, judged):
    answer = researcher.get(address("metaeval", judged), {"evaluator": PAYLOAD, "question": PAYLOAD})
    assert "<script>alert" not in answer.content.decode()
