"""From the figures to single summaries, through their addresses."""

import re

import pytest
from django.urls import reverse

from annotation.models import Rater
from scoring.models import EvaluatorSetup, SeenArticle
from tests.factories import make_gold, make_member, make_project, make_rater, make_summary
from tests.metaeval.rated_projects import make_setup, rate, score

pytestmark = pytest.mark.django_db

HTMX = {"HTTP_HX_REQUEST": "true"}


def words(answer):
    assert answer.status_code == 200
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def scores_page(researcher, summary, **headers):
    return researcher.get(reverse("summary_scores", args=[summary.project.slug, summary.pk]), **headers)


class TestTheRegion:
    """The project's labels are 1 2 3 4 5 5 and its scores 1 3 2 2 4 6."""

    def listed(self, researcher, project, **choices):
        answer = researcher.get(reverse("metaeval_summaries", args=[project.slug]), choices)
        assert answer.status_code == 200
        return [row.label for row in answer.context["rows"]]

    def test_it_lists_what_lies_within_its_ends(self, researcher, project):
        assert self.listed(researcher, project, score_from="2", score_to="3", sort="label") == [2, 3, 4]
        assert self.listed(researcher, project, score_from="2", label_to="3", sort="-label") == [3, 2]
        assert self.listed(researcher, project, label_from="5", label_to="5", sort="-score") == [5, 5]

    def test_the_order_can_be_chosen(self, researcher, project):
        assert self.listed(researcher, project, sort="score") == [1, 3, 4, 2, 5, 5]
        assert self.listed(researcher, project, sort="-label") == [5, 5, 4, 3, 2, 1]

    def test_the_region_is_told_in_words(self, researcher, project):
        address = reverse("metaeval_summaries", args=[project.slug])
        assert "score from 2 to 3, label 4 or less" in words(
            researcher.get(address, {"score_from": "2", "score_to": "3", "label_to": "4"})
        )

    def test_an_empty_region_says_how_to_leave_it(self, researcher, project):
        address = reverse("metaeval_summaries", args=[project.slug])
        assert "No summary lies here" in words(researcher.get(address, {"score_from": "100"}))

    def test_what_is_no_number_or_no_order_is_refused(self, researcher, project):
        address = reverse("metaeval_summaries", args=[project.slug])
        for choices in ({"score_from": "high"}, {"label_to": "nan"}, {"sort": "name"}, {"systems": "nobody"}):
            assert researcher.get(address, choices).status_code == 400, choices

    def test_articles_seen_by_the_compared_are_left_out_as_in_the_figures(self, researcher, project):
        article = project.articles.get(external_id="first")
        other = make_setup(project, "Learnt")
        score(other, dict.fromkeys(project.summaries.all(), 1.0))
        SeenArticle.objects.create(setup=other, article=article, role="training")
        project.bump_revision()
        rouge = EvaluatorSetup.objects.get(label="ROUGE-1").pk
        assert len(self.listed(researcher, project, evaluator=rouge)) == 3
        assert len(self.listed(researcher, project, evaluator=rouge, only=rouge)) == 6


class TestOneSummary:
    def test_each_number_stands_with_its_place_among_the_others(self, researcher, project):
        summary = project.summaries.order_by("pk")[5]
        shown = words(scores_page(researcher, summary))
        assert "Coherence 5.000 83.3% of 6 5 1 of 1 rater" in shown
        assert "ROUGE-1 general 6.0000 91.7% of 6" in shown

    def test_a_missing_score_has_its_reason_and_no_place(self, researcher, project):
        summary = project.summaries.order_by("pk")[0]
        score(make_setup(project, "Judge"), {summary: "no reference"})
        assert "Judge general – – no score: no reference" in words(scores_page(researcher, summary))

    def test_what_raters_who_were_removed_said_is_in_no_number(self, researcher, project):
        Rater.objects.update(status=Rater.Status.REMOVED)
        project.bump_revision()
        assert "Coherence" not in words(scores_page(researcher, project.summaries.first()))

    def test_a_gold_summary_has_scores_without_a_place(self, researcher, project):
        gold = make_gold(project, {"coherence": "5"}).summary
        score(make_setup(project, "Judge"), {gold: 0.5})
        assert "Judge general 0.5000 –" in words(scores_page(researcher, gold))

    def test_the_summarys_own_page_gets_the_tables_alone(self, researcher, project):
        content = scores_page(researcher, make_summary(project), **HTMX).content.decode()
        assert "No evaluator has scored this summary yet." in content
        assert "<html" not in content

    def test_a_summary_of_another_project_is_not_found(self, researcher, project):
        summary = make_summary(make_project())
        assert researcher.get(reverse("summary_scores", args=[project.slug, summary.pk])).status_code == 404


class TestTheWay:
    def test_from_a_list_one_goes_on_to_the_next_and_back(self, researcher, project):
        address = reverse("metaeval_summaries", args=[project.slug])
        content = researcher.get(address, {"sort": "score", "score_to": "2"}).content.decode()
        links = [
            link.replace("&amp;", "&") for link in re.findall(r'class="excerpt".*?href="([^"]+)"', content)
        ]
        assert len(links) == 3
        page = researcher.get(links[1]).content.decode()
        beside = {
            kind: link.replace("&amp;", "&")
            for kind, link in re.findall(r'rel="(prev|next)" href="([^"]+)"', page)
        }
        assert beside == {"prev": links[0], "next": links[2]}
        assert "2 of 3" in page
        back = re.search(r'href="([^"]+)">Back to the list', page)[1].replace("&amp;", "&")
        assert researcher.get(back).context["page"].paginator.count == 3

    def test_the_list_of_all_summaries_is_such_a_list_too(self, researcher, project):
        content = researcher.get(reverse("summaries", args=[project.slug])).content.decode()
        link = re.search(r'class="excerpt".*?href="([^"]+)"', content)[1].replace("&amp;", "&")
        assert "1 of 6" in researcher.get(link).content.decode()


def test_raters_see_none_of_it(client, project):
    rater = make_rater(project)
    rate(project.summaries.first(), rater, coherence="5")
    client.force_login(rater.user)
    for name in ("metaeval_summaries", "disagreements", "disagreements_csv"):
        assert client.get(reverse(name, args=[project.slug])).status_code == 403


def test_without_ratings_and_scores_the_list_says_what_to_do(client):
    project = make_project()
    client.force_login(make_member(project, "manager"))
    shown = words(client.get(reverse("metaeval_summaries", args=[project.slug])))
    assert "No evaluator has scored a question yet" in shown
