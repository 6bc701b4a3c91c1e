"""The API's agreement and meta-evaluation. Who is let in at which address: tests/test_access_matrix.py."""

import pytest
from django.utils import timezone

from annotation.actions.people import remove_rater
from annotation.models import Answer, Question, Rating
from metaeval.agreement.method import AgreementMethod
from metaeval.agreement.report import agreement_rows
from metaeval.card.page import CardChoices, card_now
from scoring.planning import plan_run
from scoring.working import work_on_run
from tests.factories import make_article, make_member, make_project, make_rater, make_summary, make_system
from tests.metaeval.asked import rows_of

pytestmark = pytest.mark.django_db

TEXTS = ("Ice.", "The harbour froze over.", "The harbour of the town froze over in January, says the mayor.")


@pytest.fixture
def project():
    """Six summaries of two articles by three systems; two groups of raters; two evaluators."""
    project = make_project()
    raters = [make_rater(project, group=group) for group in ("expert", "expert", "crowd")]
    questions = {
        question.key: question for question in Question.objects.filter(questionnaire=project.questionnaire)
    }
    now = timezone.now()
    for number, language in enumerate(("en", "de")):
        article = make_article(project, language=language)
        for place, text in enumerate(TEXTS):
            summary = make_summary(
                project, article=article, text=text, system=make_system(project, f"system-{place}")
            )
            for each, rater in enumerate(raters):
                rating = Rating.objects.create(summary=summary, rater=rater, created_at=now, completed_at=now)
                value = "yes" if (place + number + each) % 3 else "no"
                for question in questions.values():
                    Answer.objects.create(rating=rating, question=question, value=value, created_at=now)
    for evaluator in ("length", "copy_rate"):
        work_on_run(plan_run(project, evaluator, {}).pk)
    project.refresh_from_db()
    return project


@pytest.fixture
def researcher(client, project):
    client.force_login(make_member(project, "researcher"))
    return client


def ask(client, project, address, **parameters):
    answer = client.get(f"/api/projects/{project.slug}/{address}/", parameters)
    assert answer.status_code == 200, answer.content
    return answer.json()


@pytest.mark.parametrize(
    ("asked", "method"),
    [
        ({}, {}),
        ({"language": "de"}, {}),
        ({"language": "all"}, {}),
        ({"group": "expert"}, {}),
        ({}, {"scale": "ordinal"}),
        ({}, {"interval": "none"}),
        ({}, {"interval": "units_bca", "resamples": 50, "seed": 7}),
    ],
)
def test_agreement_is_that_of_the_page(researcher, project, asked, method):
    body = ask(researcher, project, "agreement", limit=1000, **asked, **method)
    assert body["results"] == agreement_rows(project, **asked, method=AgreementMethod(**method))
    assert body["count"] == len(body["results"]) > 0
    assert body["revision"] == project.revision


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"level": "system"},
        {"level": "article", "coefficient": "pearson"},
        {"coefficient": "kendall_b", "language": "en"},
        {"coefficient": "roc_auc", "group": "crowd"},
    ],
)
def test_meta_evaluation_is_that_of_the_page(researcher, project, asked):
    body = ask(researcher, project, "meta-evaluation", limit=1000, **asked)
    assert body["results"] == rows_of(project, **asked)
    assert len(body["results"]) == 2 * 6
    assert body["revision"] == project.revision


def test_evaluators_stand_beside_their_numbers_with_signature_and_fingerprint(researcher, project):
    body = ask(researcher, project, "meta-evaluation")
    setups = list(project.setups.all())
    assert body["evaluators"] == [
        {
            "setup": setup.pk,
            "evaluator": setup.label,
            "signature": setup.signature,
            "fingerprint": setup.fingerprint,
        }
        for setup in setups
    ]
    assert {row["fingerprint"] for row in body["results"]} == {setup.fingerprint for setup in setups}


def test_some_evaluators_can_be_compared_alone(researcher, project):
    first, second = (str(setup.pk) for setup in project.setups.all())
    body = ask(researcher, project, "meta-evaluation", only=[first])
    assert [str(evaluator["setup"]) for evaluator in body["evaluators"]] == [first]
    assert body["results"] == rows_of(project, only=(first,))
    assert len(ask(researcher, project, "meta-evaluation", only=[first, second])["evaluators"]) == 2


def test_an_evaluators_card_has_the_numbers_of_its_page(researcher, project):
    length = project.setups.get(evaluator="length")
    asked = {"evaluator": str(length.pk), "question": "grammar", "language": "en"}
    body = ask(researcher, project, "evaluator-card", limit=1000, **asked)
    assert body["results"] == card_now(project, CardChoices(**asked)).rows
    assert {row["evaluator"] for row in body["results"]} == {length.label}
    assert body["revision"] == project.revision


def test_an_undefined_value_is_null_with_its_reason(researcher, project):
    body = ask(researcher, project, "meta-evaluation", language="de", level="system", limit=1000)
    for row in body["results"]:
        assert (row["value"] is None) == ("reason" in row)
    Rating.objects.all().delete()
    project.bump_revision()
    body = ask(researcher, project, "agreement")
    assert body["results"]
    assert all(row["value"] is None and row["reason"] for row in body["results"])


def test_a_removed_rater_is_out_of_it_at_once(researcher, project):
    before = ask(researcher, project, "agreement", limit=1000)
    remove_rater(project.raters.first())
    after = ask(researcher, project, "agreement", limit=1000)
    assert after["revision"] > before["revision"]
    assert {row["raters"] for row in before["results"]} == {3}
    assert {row["raters"] for row in after["results"]} == {2}


def test_an_empty_project_has_no_meta_evaluation_yet(client):
    project = make_project()
    client.force_login(make_member(project, "manager"))
    body = ask(client, project, "meta-evaluation")
    assert (body["count"], body["evaluators"], body["results"]) == (0, [], [])


@pytest.mark.parametrize(
    ("address", "asked", "said"),
    [
        ("meta-evaluation", {"level": "summary"}, "level: found 'summary', expected one of pooled, article"),
        ("meta-evaluation", {"coefficient": "rho"}, "coefficient: found 'rho', expected one of pearson, "),
        ("meta-evaluation", {"language": "fr"}, "language: found 'fr', expected one of all, de, en"),
        ("meta-evaluation", {"group": "nobody"}, "group: found 'nobody', expected one of crowd, expert"),
        ("evaluator-card", {"evaluator": "999999"}, "evaluator: found '999999', expected one of "),
        ("evaluator-card", {"labels": "x"}, "labels: found 'x', expected one of mean, majority"),
        ("meta-evaluation", {"only": "999999"}, "found '999999', expected one of "),
        ("meta-evaluation", {"only": ["1", "x\x00"]}, "only"),
        ("meta-evaluation", {"level": ["pooled", "system"]}, "level: given twice"),
        ("meta-evaluation", {"evaluator__params": "x"}, "there is no parameter"),
        ("agreement", {"language": "fr"}, "language: found 'fr', expected one of all, de, en"),
        ("agreement", {"group": "nobody"}, "group: found 'nobody', expected one of crowd, expert"),
        ("agreement", {"interval": "articles"}, "interval: found 'articles', expected one of none, units, "),
        ("agreement", {"resamples": 0}, "resamples"),
        ("agreement", {"scale": "ratio"}, "scale: found 'ratio', expected one of own, "),
        ("agreement", {"rater__user__email": "a@b"}, "there is no parameter"),
    ],
)
def test_it_refuses_parameters_that_it_does_not_know(researcher, project, address, asked, said):
    answer = researcher.get(f"/api/projects/{project.slug}/{address}/", asked)
    assert answer.status_code == 400
    assert said in answer.json()["detail"]


def test_evaluators_of_another_project_cannot_be_compared(researcher):
    other = make_project()
    make_summary(other)
    work_on_run(plan_run(other, "length", {}).pk)
    [project] = [row["slug"] for row in researcher.get("/api/projects/").json()["results"]]
    answer = researcher.get(f"/api/projects/{project}/meta-evaluation/", {"only": other.setups.get().pk})
    assert answer.status_code == 400


def test_no_rater_is_named(researcher, project):
    rater = project.raters.first()
    for address in ("agreement", "meta-evaluation"):
        answer = researcher.get(f"/api/projects/{project.slug}/{address}/?limit=1000").content.decode()
        assert rater.user.username not in answer
        assert f'"{rater.pseudonym}"' not in answer
