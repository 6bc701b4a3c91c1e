"""The projects and questions that a reader may choose."""

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from annotation import protocol
from annotation.errors import DomainError
from metaeval.across_projects.data_sets import chosen_projects, others_for, parts_of, with_questions
from tests.factories import make_member
from tests.metaeval.across_projects.conftest import make_data_set

pytestmark = pytest.mark.django_db


@pytest.fixture
def researcher(reader):
    return User.objects.get(pk=reader.session["_auth_user_id"])


def test_only_projects_of_a_member_are_offered(data_sets, secret, researcher):
    assert others_for(researcher, data_sets[0]) == [data_sets[1]]

    with pytest.raises(DomainError, match="other: found 'secret', which is no other project whose results"):
        chosen_projects(researcher, data_sets[0], ["secret"])


def test_more_projects_than_fit_are_refused(data_sets, researcher):
    with pytest.raises(DomainError, match="other: found 20 projects, expected fewer than 20"):
        chosen_projects(researcher, data_sets[0], ["stories"] * 20)


def test_published_results_do_not_make_a_project_one_of_these(data_sets, secret, researcher):
    secret.results_published_at = timezone.now()
    secret.save()

    assert others_for(researcher, data_sets[0]) == [data_sets[1]]


def test_annotator_of_another_project_is_not_offered_it(data_sets, secret):
    annotator_elsewhere = make_member(data_sets[0], "researcher")
    secret.raters.update(user=annotator_elsewhere)

    assert others_for(annotator_elsewhere, data_sets[0]) == []


def test_question_may_differ_between_projects(data_sets):
    votes = make_data_set("Votes", 4, protocol.SEAHORSE)
    key = protocol.SEAHORSE.questions[0].key

    by_default = with_questions([*data_sets, votes], ())
    chosen = with_questions([*data_sets, votes], ["news:fluency", "stories:coherence", f"votes:{key}"])

    assert [each.question for each in with_questions(data_sets, ())] == ["coherence", "coherence"]
    assert [each.question for each in with_questions(data_sets, ["fluency"])] == ["fluency", "fluency"]
    assert [each.question for each in with_questions(data_sets, ["news:fluency"])] == ["fluency", "fluency"]
    assert [each.question for each in with_questions(data_sets, ["stories:fluency"])] == [
        "coherence",
        "fluency",
    ]
    assert [each.question for each in by_default] == ["", "", ""]
    assert [each.question for each in chosen] == ["fluency", "coherence", key]


def test_unknown_question_is_refused_with_those_there_are(data_sets):
    with pytest.raises(DomainError, match="question: found 'beauty', but stories asks coherence, "):
        with_questions(data_sets, ["stories:beauty"])


def test_project_is_split_into_datasets_if_every_article_names_one(data_sets):
    for project, named in zip(data_sets, (12, 9), strict=True):
        ids = list(project.articles.order_by("pk").values_list("pk", flat=True))
        project.articles.filter(pk__in=ids[:6]).update(dataset="xsum")
        project.articles.filter(pk__in=ids[6:named]).update(dataset="cnn")
        project.bump_revision()

    parts = parts_of(with_questions(data_sets, ()), "dataset", "mean")

    assert [part.data_set.name for part in parts] == ["News, cnn", "News, xsum", "Stories"]


def test_projects_of_the_same_name_are_told_apart(data_sets):
    for project in data_sets:
        project.name = "News"

    parts = parts_of(with_questions(data_sets, ()), "project", "mean")

    assert [part.data_set.name for part in parts] == ["News (news)", "News (stories)"]
