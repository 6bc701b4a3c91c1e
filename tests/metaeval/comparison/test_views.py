"""The comparison and agreement pages and their CSV files."""

import csv
import io
import re
from html.parser import HTMLParser
from itertools import product

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation import protocol
from annotation.models import Project
from annotation.people.members import remove_rater
from metaeval.agreement.method import AgreementMethod
from metaeval.agreement.page import HEADLINES
from metaeval.agreement.report import agreement_rows
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.correlation.soft_accuracy import SOFT_ACCURACY, SYSTEMS_ONLY
from metaeval.templatetags.results import figure, short_figure
from scoring.models import SeenArticle
from tests.factories import make_member, make_project, make_rater, make_summary
from tests.metaeval.comparison_rows import rows_of
from tests.metaeval.rated_projects import make_setup, make_summaries, rate, rate_all, score

PAYLOAD = "<script>alert('x')</script>\"&"
PAGES = ("comparison", "agreement")
HTMX = {"HTTP_HX_REQUEST": "true"}


@pytest.fixture
def project(db):
    return make_project(protocol.SUMMEVAL)


@pytest.fixture
def raters(project):
    return [make_rater(project) for _ in range(2)]


@pytest.fixture
def judged(project, raters):
    """Return six summaries rated by two raters each, and scored by two evaluators."""
    summaries = make_summaries(project, ["first", "second"], ["a", "b", "c"])
    rate_all(
        (summary, rater, {"coherence": answer, "fluency": answer})
        for summary, answers in zip(summaries, ("12", "23", "35", "22", "44", "55"), strict=True)
        for rater, answer in zip(raters, answers, strict=True)
    )
    for label, values in (("ROUGE-1", [1.0, 3.0, 2.0, 2.0, 4.0, 6.0]), ("Length", [5.0] * 6)):
        score(make_setup(project, label), dict(zip(summaries, values, strict=True)))
    return project


def address(name, project, *rest):
    return reverse(name, args=[project.slug, *rest])


class Reader(HTMLParser):
    """The text of a page by element id, its tags, and its inline scripts and styles."""

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
    """Return the text of each cell with a figure, by its id."""
    page = read(response)
    return {name: page.text(name) for name in page.texts if name.startswith("figure-")}


@pytest.mark.parametrize("page", [*PAGES, "levels_csv", "systems_csv"])
class TestAccess:
    def test_managers_and_researchers_see_the_page(self, client, project, page):
        for role in ("manager", "researcher"):
            client.force_login(make_member(project, role))
            assert client.get(address(page, project)).status_code == 200

    def test_raters_are_forbidden(self, client, project, page):
        client.force_login(make_rater(project).user)
        assert client.get(address(page, project)).status_code == 403

    def test_members_of_other_projects_get_not_found(self, client, project, page):
        client.force_login(make_member(make_project(), "manager"))
        assert client.get(address(page, project)).status_code == 404

    def test_anonymous_visitors_are_sent_to_sign_in(self, client, project, page):
        answer = client.get(address(page, project))
        assert answer.status_code == 302
        assert answer.url.startswith(reverse("sign_in"))

    def test_post_is_refused(self, researcher, project, page):
        assert researcher.post(address(page, project)).status_code == 405


@pytest.mark.parametrize("page", PAGES)
class TestLive:
    def test_polling_without_changes_returns_204_with_few_queries(self, researcher, judged, page):
        revision = Project.objects.get(pk=judged.pk).revision
        with CaptureQueriesContext(connection) as captured:
            answer = researcher.get(address(page, judged), {"revision": revision}, **HTMX)
        assert (answer.status_code, answer.content) == (204, b"")
        # session, user, project with its revision, and the user's roles in it
        assert len(captured) <= 4
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

    def test_the_fragment_replaces_only_elements_of_the_page(self, researcher, judged, page):
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

    def test_the_fragment_replaces_no_controls_or_details(self, researcher, judged, page):
        fragment = read(researcher.get(address(page, judged), **HTMX))
        assert not {"select", "form"} & {tag for tag, _ in fragment.tags}
        names = [attributes.get("id") for tag, attributes in fragment.tags if tag == "details"]
        assert all(names)
        assert len(names) == len(set(names))

    def test_restoring_history_returns_the_whole_page(self, researcher, judged, page):
        answer = researcher.get(address(page, judged), HTTP_HX_HISTORY_RESTORE_REQUEST="true", **HTMX)
        assert "<html" in answer.content.decode()

    def test_the_page_polls_within_two_seconds_with_its_revision(self, researcher, judged, page):
        tags = read(researcher.get(address(page, judged))).tags
        (asking,) = (attributes for _, attributes in tags if "every" in attributes.get("hx-trigger", ""))
        assert asking["hx-trigger"] == "every 1500ms"
        assert asking["hx-include"] == "#status"


@pytest.mark.parametrize("page", PAGES)
def test_pages_have_no_inline_scripts_or_styles(researcher, judged, page):
    answer = read(researcher.get(address(page, judged)))
    assert answer.inline == []
    assert all(attributes.get("src") for tag, attributes in answer.tags if tag == "script")


@pytest.mark.parametrize("page", PAGES)
def test_an_empty_project_explains_the_next_step(client, project, page):
    client.force_login(make_member(project, "manager"))
    answer = client.get(address(page, project))
    assert "No ratings yet" in read(answer).text("numbers")
    buttons = [each.get("href") for _, each in read(answer).tags if each.get("class") == "button"]
    assert reverse("imports", args=[project.slug]) in buttons


def test_agreement_explains_that_no_summary_is_rated_twice(researcher, project, raters):
    rate(make_summary(project), raters[0], coherence="1")
    page = read(researcher.get(address("agreement", project)))
    assert "No summary has two ratings yet 1 rating, one for each summary." in page.text("numbers")


def test_researchers_see_no_links_to_manager_pages(researcher, project):
    answer = researcher.get(address("comparison", project)).content.decode()
    assert reverse("imports", args=[project.slug]) not in answer
    assert reverse("people", args=[project.slug]) not in answer


def test_labels_without_scores_prompt_to_run_an_evaluator(researcher, project, raters):
    rate(make_summary(project), raters[0], coherence="3")
    answer = researcher.get(address("comparison", project))
    assert "No scores yet" in read(answer).text("numbers")
    assert reverse("runs", args=[project.slug]) in answer.content.decode()


class TestComparison:
    def test_the_page_shows_the_reports_values_and_n(self, researcher, judged):
        shown = cells(researcher.get(address("comparison", judged)))
        for row in rows_of(judged):
            setup = judged.setups.get(label=row["evaluator"])
            text = shown[f"figure-{setup.pk}-{row['dimension']}"]
            if row["value"] is None:
                assert text == f"– undefined: {row['reason']}"
            else:
                assert text.startswith(f"{row['value']:.3f}".removeprefix("0"))
                assert text.endswith(f"n {row['n']}")

    def test_undefined_values_are_shown_with_their_reason(self, researcher, judged):
        setup = judged.setups.get(label="Length")
        shown = cells(researcher.get(address("comparison", judged)))
        assert shown[f"figure-{setup.pk}-coherence"] == "– undefined: all scores equal"

    def test_the_address_sets_level_and_coefficient(self, researcher, judged):
        answer = researcher.get(
            address("comparison", judged), {"level": "article", "coefficient": "kendall_b"}
        )
        setup = judged.setups.get(label="ROUGE-1")
        (row,) = (
            row
            for row in rows_of(judged, level="article", coefficient="kendall_b")
            if (row["evaluator"], row["dimension"]) == ("ROUGE-1", "coherence")
        )
        assert cells(answer)[f"figure-{setup.pk}-coherence"].startswith(f"{row['value']:.3f}"[1:])
        assert "Kendall's τ-b, mean over articles" in read(answer).text("lede")

    def test_what_misleads_at_the_level_is_said_beside_values_pairs_and_menus(self, researcher, judged):
        chosen = {"level": "system", "test": "williams", "interval": "analytic"}
        page = read(researcher.get(address("comparison", judged), chosen))
        assert "Warning: The interval 'by formula, summaries independent'" in page.text("notes")
        assert "Warning: The test 'Williams' test' does not hold" in page.text("notes")
        assert "Williams' test 10% to 12%" in page.text("simulated")
        assert "symmetric bootstrap over articles 92% to 100% (default)" in page.text("simulated")
        assert "Williams' test' does not hold" in page.text("behind")
        pairs = researcher.get(address("significance_csv", judged), chosen).content.decode()
        assert "method_warning" in pairs.splitlines()[0]
        usual = read(researcher.get(address("comparison", judged), {"level": "system"}))
        assert "Warning:" not in usual.text("notes")

    @pytest.mark.parametrize(
        "wrong",
        [{"level": "x"}, {"coefficient": "x"}, {"language": "xx"}, {"group": "x"}, {"only": "99999"}],
    )
    def test_unknown_choices_are_refused(self, researcher, judged, wrong):
        answer = researcher.get(address("comparison", judged), wrong)
        assert answer.status_code == 400
        assert "expected one of" in answer.content.decode()

    def test_a_chosen_figure_is_drawn_with_its_summaries(self, researcher, judged):
        setup = judged.setups.get(label="ROUGE-1")
        answer = researcher.get(address("comparison", judged), {"evaluator": setup.pk, "question": "fluency"})
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

    def test_a_chosen_question_is_drawn_with_the_first_evaluator_scoring_it(self, researcher, judged):
        question = judged.questionnaire.questions.last()
        drawn = (
            researcher.get(address("comparison", judged), {"question": question.key}).context["page"].drawn
        )
        assert drawn.figure.labels.key == question.key

    def test_a_chosen_evaluator_is_drawn_on_its_first_question(self, researcher, judged):
        setup = judged.setups.order_by("pk").last()
        drawn = researcher.get(address("comparison", judged), {"evaluator": setup.pk}).context["page"].drawn
        assert drawn.figure.evaluator.label == setup.label

    def test_a_deleted_chosen_figure_is_replaced_by_the_first(self, researcher, judged):
        answer = researcher.get(address("comparison", judged), {"evaluator": "0", "question": "gone"})
        assert "Length · Coherence" in read(answer).text("charts")

    def test_the_page_lists_the_pair_at_every_level_and_coefficient(self, researcher, judged):
        setup = judged.setups.get(label="ROUGE-1")
        text = read(
            researcher.get(address("comparison", judged), {"evaluator": setup.pk, "question": "coherence"})
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
        assert SYSTEMS_ONLY in text

    def test_summaries_with_the_largest_rank_differences_are_linked(self, researcher, judged):
        """Labels are 1.5 2.5 4 2 4 5 and scores 1 3 2 2 4 6: the second is too high, the third too low."""
        setup = judged.setups.get(label="ROUGE-1")
        answer = researcher.get(
            address("comparison", judged), {"evaluator": setup.pk, "question": "coherence"}
        )
        _, second, third, *_ = judged.summaries.order_by("pk")
        text = " ".join(answer.content.decode().split())
        for summary, direction in ((second, "scored high"), (third, "scored low")):
            link = reverse("summary", args=[judged.slug, summary.pk])
            assert re.search(rf'<a href="{link}">[^<]*</a> <span class="muted">. {direction}<', text)

    def test_tied_scores_compatible_with_the_labels_are_no_differences(self, researcher, judged):
        tied = make_setup(judged, "Tied")
        summaries = list(judged.summaries.order_by("pk"))
        score(tied, dict(zip(summaries, [0.0] * 5 + [1.0], strict=True)), "coherence")
        answer = researcher.get(
            address("comparison", judged), {"evaluator": tied.pk, "question": "coherence"}
        )
        assert "Largest differences" not in answer.content.decode()

    def test_left_out_articles_are_named_above_the_table(self, researcher, judged):
        setup = judged.setups.get(label="ROUGE-1")
        article = judged.articles.first()
        SeenArticle.objects.create(setup=setup, article=article, role="in-context example")
        judged.bump_revision()
        own = read(researcher.get(address("comparison", judged))).text("lede")
        assert "measured without the articles that it has seen: 1 article seen by ROUGE-1." in own
        shared = read(researcher.get(address("comparison", judged), {"items": "common"})).text("lede")
        assert "Left out for all: 1 article seen by ROUGE-1." in shared
        assert "3 summaries have a human label" in shared

    def test_the_page_says_what_comparing_on_shared_articles_costs(self, researcher, judged):
        other = make_setup(judged, "Learnt")
        score(other, dict.fromkeys(judged.summaries.all(), 1.0), "coherence")
        setups = (judged.setups.get(label="ROUGE-1"), other)
        for setup, article in zip(setups, judged.articles.order_by("pk"), strict=False):
            SeenArticle.objects.create(setup=setup, article=article, role="in-context example")
        judged.bump_revision()
        lede = read(researcher.get(address("comparison", judged))).text("lede")
        assert "1 article seen by Learnt; 1 article seen by ROUGE-1." in lede
        assert "All evaluators share 0 of 2 articles" in lede

    def test_the_page_defines_the_chosen_coefficient(self, researcher, judged):
        text = read(researcher.get(address("comparison", judged), {"coefficient": "kendall_b"})).text("how")
        assert "τ-b = (C − D)" in text
        assert "Human label: the mean over raters in good standing" in text
        assert "left out of its figures and of every comparison with it" in text

    def test_evaluators_can_be_filtered(self, researcher, judged):
        setup = judged.setups.get(label="ROUGE-1")
        shown = cells(researcher.get(address("comparison", judged), {"only": setup.pk}))
        assert {name.split("-")[1] for name in shown} == {str(setup.pk)}

    def test_more_summaries_cost_no_more_queries(self, researcher, judged, raters):
        def queries():
            with CaptureQueriesContext(connection) as captured:
                researcher.get(address("comparison", judged))
            return len(captured)

        before = queries()
        for _ in range(10):
            rate(make_summary(judged), raters[0], coherence="1")
        assert queries() == before


class TestAgreement:
    def test_the_page_shows_the_reports_values_and_n(self, researcher, judged):
        shown = cells(researcher.get(address("agreement", judged), {"interval": "units"}))
        method = AgreementMethod(interval="units")
        rows = [
            row
            for row in agreement_rows(judged, language="all", method=method)
            if row["statistic"] in HEADLINES
        ]
        for row in rows:
            text = shown[f"figure-{row['question']}-all-{row['statistic']}"]
            if row["value"] is None:
                assert text == f"– undefined: {row['reason']}"
            else:
                ends = (
                    "no interval"
                    if row["low"] is None
                    else " to ".join(short_figure(row[end]) for end in ("low", "high"))
                )
                assert text == f"{figure(row['value'])} {ends} n {row['units']}"
        assert any(row["low"] is not None for row in rows)

    def test_the_chosen_statistic_gets_a_column_with_one_language(self, researcher, judged):
        assert "figure-coherence-all-cohen_kappa" not in cells(researcher.get(address("agreement", judged)))
        chosen = cells(researcher.get(address("agreement", judged), {"statistic": "cohen_kappa"}))
        assert "figure-coherence-all-cohen_kappa" in chosen

    def test_choosing_no_intervals_shows_none(self, researcher, judged):
        shown = cells(researcher.get(address("agreement", judged), {"interval": "none"}))
        assert not any(" to " in text for text in shown.values())

    def test_a_note_explains_low_alpha_of_skewed_answers(self, researcher):
        """18 summaries with two yes and 2 with yes and no: 90% agree, alpha is -.026."""
        project = make_project()
        raters = [make_rater(project) for _ in range(2)]
        for number in range(20):
            summary = make_summary(project)
            for rater, answer in zip(raters, ("yes", "no" if number < 2 else "yes"), strict=True):
                rate(summary, rater, comprehensibility="yes", grammar=answer)
        researcher.force_login(make_member(project, "researcher"))
        page = read(researcher.get(address("agreement", project), {"question": "grammar"}))
        said = "Two raters agree in 90% of pairs, yet α is −.026. Because 95% of the answers are Yes"
        assert said in page.text("notes")
        assert said in page.text("charts")

    def test_balanced_answers_have_no_note_on_alpha(self, researcher, judged):
        assert "yet α" not in read(researcher.get(address("agreement", judged))).text("notes")

    def test_each_language_gets_a_column_of_the_chosen_statistic(self, researcher, judged, raters):
        german = make_summary(judged, language="de")
        for rater in raters:
            rate(german, rater, coherence="2")
        answer = researcher.get(address("agreement", judged), {"statistic": "pairwise_agreement"})
        shown = cells(answer)
        assert shown["figure-coherence-de-pairwise_agreement"] == "1.000 no interval n 1"
        assert "figure-coherence-en-pairwise_agreement" in shown
        assert not any("krippendorff" in name for name in shown)
        assert "German" in read(answer).text("numbers")

    def test_a_chosen_question_shows_its_pairs_of_answers(self, researcher, judged):
        page = read(researcher.get(address("agreement", judged), {"question": "fluency"}))
        assert "Fluency" in page.text("charts")
        assert "6 summaries with two ratings or more: 12 ratings by 2 raters" in page.text("charts")
        assert "Pairs of answers: Fluency" in page.text("behind")
        assert "Counted are finished ratings by raters in good standing" in page.text("how")

    @pytest.mark.parametrize(
        "wrong",
        [
            {"statistic": "x"},
            {"interval": "systems"},
            {"scale": "ratio"},
            {"group": "x"},
            {"language": "xx"},
        ],
    )
    def test_unknown_choices_are_refused(self, researcher, judged, wrong):
        assert researcher.get(address("agreement", judged), wrong).status_code == 400

    def test_summaries_rated_once_are_counted(self, researcher, judged, raters):
        rate(make_summary(judged), raters[0], coherence="1")
        page = read(researcher.get(address("agreement", judged), {"question": "coherence"}))
        assert "summaries with fewer than two ratings: 1" in page.text("charts")


class TestCsv:
    def table(self, answer):
        assert answer["Content-Type"] == "text/csv; charset=utf-8"
        assert "attachment" in answer["Content-Disposition"]
        return list(csv.DictReader(io.StringIO(answer.content.decode(), newline="")))

    def test_the_comparison_csv_has_the_reports_values(self, researcher, judged):
        chosen = {"level": "article", "coefficient": "kendall_b"}
        found = self.table(researcher.get(address("comparison_table", judged, "csv"), chosen))
        expected = rows_of(judged, **chosen)
        assert [(row["evaluator"], row["dimension"], row["n"]) for row in found] == [
            (row["evaluator"], row["dimension"], str(row["n"])) for row in expected
        ]
        assert [row["value"] for row in found] == [
            "" if row["value"] is None else repr(row["value"]) for row in expected
        ]

    def test_the_chosen_pair_can_be_downloaded_by_level_and_by_system(self, researcher, judged):
        setup = judged.setups.get(label="ROUGE-1")
        question = judged.questionnaire.questions.first()
        chosen = {"evaluator": setup.pk, "question": question.key}
        levels = self.table(researcher.get(address("levels_csv", judged), chosen))
        assert {row["evaluator"] for row in levels} == {"ROUGE-1"}
        assert {row["dimension"] for row in levels} == {question.dimension}
        assert {(row["level"], row["coefficient"]) for row in levels} == set(
            product(LEVELS, [*COEFFICIENTS, SOFT_ACCURACY])
        )
        systems = self.table(researcher.get(address("systems_csv", judged), chosen))
        page = researcher.get(address("comparison", judged), chosen).context["page"]
        assert [(row["system"], row["label"], row["score"], row["n"]) for row in systems] == [
            (row.name, repr(row.label), repr(row.score), str(row.n)) for row in page.drawn.systems
        ]
        assert systems

    def test_the_agreement_csv_has_the_reports_values(self, researcher, judged):
        found = self.table(researcher.get(address("agreement_table", judged, "csv"), {"scale": "interval"}))
        expected = agreement_rows(judged, method=AgreementMethod("interval"))
        assert [row["value"] for row in found] == [
            "" if row["value"] is None else repr(row["value"]) for row in expected
        ]

    def test_the_page_links_to_the_csv_with_its_choices(self, researcher, judged):
        page = researcher.get(address("comparison", judged), {"level": "system"}).content.decode()
        assert f"{address('comparison_table', judged, 'csv')}?level=system" in page

    def test_names_that_look_like_formulas_are_escaped_in_csv(self, researcher, judged):
        judged.setups.filter(label="Length").update(label="=cmd|'/c calc'!A1")
        judged.bump_revision()
        found = self.table(researcher.get(address("comparison_table", judged, "csv")))
        assert {row["evaluator"] for row in found} == {"'=cmd|'/c calc'!A1", "ROUGE-1"}


def test_names_are_escaped_on_the_page_and_in_charts(researcher, judged):
    judged.setups.filter(label="ROUGE-1").update(label=f"A{PAYLOAD}", signature=PAYLOAD)
    judged.systems.filter(name="a").update(name=PAYLOAD)
    judged.bump_revision()
    setup = judged.setups.get(signature=PAYLOAD)
    answer = researcher.get(address("comparison", judged), {"evaluator": setup.pk, "question": "coherence"})
    text = answer.content.decode()
    assert "<script>alert" not in text
    assert PAYLOAD in read(answer).text("charts")
    assert PAYLOAD in read(answer).text("behind")


def test_choices_from_the_address_are_escaped(researcher, judged):
    answer = researcher.get(address("comparison", judged), {"evaluator": PAYLOAD, "question": PAYLOAD})
    assert "<script>alert" not in answer.content.decode()
