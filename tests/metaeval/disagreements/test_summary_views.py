"""The pages that lead from results to single summaries."""

import re

import pytest
from django.urls import reverse

from annotation.models import Rater
from scoring.models import SeenArticle, Setup
from tests.factories import make_gold, make_member, make_project, make_rater, make_summary
from tests.metaeval.rated_projects import make_setup, rate, score

pytestmark = pytest.mark.django_db

HTMX = {"HTTP_HX_REQUEST": "true"}


def text_of(answer):
    assert answer.status_code == 200
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def scores_page(rated_project_reader, summary, **headers):
    return rated_project_reader.get(
        reverse("summary_scores", args=[summary.project.slug, summary.pk]), **headers
    )


class TestSummaryList:
    """The project has the labels 1 2 3 4 5 5 and the scores 1 3 2 2 4 6."""

    def listed(self, rated_project_reader, rated_project, **choices):
        answer = rated_project_reader.get(reverse("comparison_summaries", args=[rated_project.slug]), choices)
        assert answer.status_code == 200
        return [row.label for row in answer.context["rows"]]

    def test_summaries_are_filtered_by_score_and_label(self, rated_project_reader, rated_project):
        assert self.listed(
            rated_project_reader, rated_project, score_from="2", score_to="3", sort="label"
        ) == [2, 3, 4]
        assert self.listed(
            rated_project_reader, rated_project, score_from="2", label_to="3", sort="-label"
        ) == [3, 2]
        assert self.listed(
            rated_project_reader, rated_project, label_from="5", label_to="5", sort="-score"
        ) == [5, 5]

    def test_summaries_can_be_sorted(self, rated_project_reader, rated_project):
        assert self.listed(rated_project_reader, rated_project, sort="score") == [1, 3, 4, 2, 5, 5]
        assert self.listed(rated_project_reader, rated_project, sort="-label") == [5, 5, 4, 3, 2, 1]

    def test_the_page_describes_its_range(self, rated_project_reader, rated_project):
        address = reverse("comparison_summaries", args=[rated_project.slug])
        assert "score from 2 to 3, label 4 or less" in text_of(
            rated_project_reader.get(address, {"score_from": "2", "score_to": "3", "label_to": "4"})
        )

    def test_an_empty_range_says_so(self, rated_project_reader, rated_project):
        address = reverse("comparison_summaries", args=[rated_project.slug])
        assert "No summaries in this range" in text_of(
            rated_project_reader.get(address, {"score_from": "100"})
        )

    def test_invalid_ranges_and_orders_are_refused(self, rated_project_reader, rated_project):
        address = reverse("comparison_summaries", args=[rated_project.slug])
        for choices in ({"score_from": "high"}, {"label_to": "nan"}, {"sort": "name"}, {"systems": "nobody"}):
            assert rated_project_reader.get(address, choices).status_code == 400, choices

    def test_only_articles_seen_by_the_evaluator_are_left_out(self, rated_project_reader, rated_project):
        article = rated_project.articles.get(external_id="first")
        other = make_setup(rated_project, "Learnt")
        score(other, dict.fromkeys(rated_project.summaries.all(), 1.0))
        SeenArticle.objects.create(setup=other, article=article, role="training")
        rated_project.bump_revision()
        rouge = Setup.objects.get(label="ROUGE-1").pk
        assert len(self.listed(rated_project_reader, rated_project, evaluator=rouge)) == 6
        assert len(self.listed(rated_project_reader, rated_project, evaluator=other.pk)) == 3


class TestOneSummary:
    def test_labels_and_scores_are_shown_with_their_percentile(self, rated_project_reader, rated_project):
        summary = rated_project.summaries.order_by("pk")[5]
        shown = text_of(scores_page(rated_project_reader, summary))
        assert "Coherence 5.000 83.3% of 6 5 1 of 1 rater" in shown
        assert "ROUGE-1 general 6.0000 91.7% of 6" in shown

    def test_a_missing_score_has_a_reason_instead_of_a_percentile(self, rated_project_reader, rated_project):
        summary = rated_project.summaries.order_by("pk")[0]
        score(make_setup(rated_project, "Judge"), {summary: "no reference"})
        assert "Judge general – – no score: no reference" in text_of(
            scores_page(rated_project_reader, summary)
        )

    def test_ratings_of_removed_raters_are_not_shown(self, rated_project_reader, rated_project):
        Rater.objects.update(status=Rater.Status.REMOVED)
        rated_project.bump_revision()
        assert "Coherence" not in text_of(scores_page(rated_project_reader, rated_project.summaries.first()))

    def test_gold_summaries_have_scores_without_percentiles(self, rated_project_reader, rated_project):
        gold = make_gold(rated_project, {"coherence": "5"}).summary
        score(make_setup(rated_project, "Judge"), {gold: 0.5})
        assert "Judge general 0.5000 –" in text_of(scores_page(rated_project_reader, gold))

    def test_htmx_requests_get_only_the_tables(self, rated_project_reader, rated_project):
        content = scores_page(rated_project_reader, make_summary(rated_project), **HTMX).content.decode()
        assert "No scores yet." in content
        assert "<html" not in content

    def test_a_summary_of_another_project_is_not_found(self, rated_project_reader, rated_project):
        summary = make_summary(make_project())
        assert (
            rated_project_reader.get(
                reverse("summary_scores", args=[rated_project.slug, summary.pk])
            ).status_code
            == 404
        )


class TestNavigation:
    def test_a_summary_links_to_its_neighbours_and_back_to_the_list(
        self, rated_project_reader, rated_project
    ):
        address = reverse("comparison_summaries", args=[rated_project.slug])
        content = rated_project_reader.get(address, {"sort": "score", "score_to": "2"}).content.decode()
        links = [
            link.replace("&amp;", "&")
            for link in re.findall(r'(?s)class="excerpt".*?href="([^"]+)"', content)
        ]
        assert len(links) == 3
        page = rated_project_reader.get(links[1]).content.decode()
        beside = {
            kind: link.replace("&amp;", "&")
            for kind, link in re.findall(r'rel="(prev|next)" href="([^"]+)"', page)
        }
        assert beside == {"prev": links[0], "next": links[2]}
        assert "2 of 3" in page
        back = re.search(r'href="([^"]+)">Back to the list', page)[1].replace("&amp;", "&")
        assert rated_project_reader.get(back).context["page"].paginator.count == 3

    def test_the_list_of_all_summaries_has_the_same_navigation(self, rated_project_reader, rated_project):
        content = rated_project_reader.get(reverse("summaries", args=[rated_project.slug])).content.decode()
        link = re.search(r'(?s)class="excerpt".*?href="([^"]+)"', content)[1].replace("&amp;", "&")
        assert "1 of 6" in rated_project_reader.get(link).content.decode()


def test_raters_are_forbidden(client, rated_project):
    rater = make_rater(rated_project)
    rate(rated_project.summaries.first(), rater, coherence="5")
    client.force_login(rater.user)
    for name in ("comparison_summaries", "disagreements", "disagreements_csv"):
        assert client.get(reverse(name, args=[rated_project.slug])).status_code == 403


def test_an_empty_project_explains_the_next_step(client):
    project = make_project()
    client.force_login(make_member(project, "manager"))
    shown = text_of(client.get(reverse("comparison_summaries", args=[project.slug])))
    assert "No evaluator has scored a question yet" in shown
