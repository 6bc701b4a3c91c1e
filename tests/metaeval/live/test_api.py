"""The API's agreement, comparison and evaluator cards; tests/test_access_matrix.py tests access."""

import pytest
from django.utils import timezone

from annotation.models import Answer, Question, Rating
from annotation.people.members import remove_rater
from metaeval.agreement.method import AgreementMethod
from metaeval.agreement.report import agreement_rows
from metaeval.card.page import card_now
from metaeval.live.choices import PairChoices
from scoring.runs.planning import plan_run
from scoring.runs.worker import work_on_run
from tests.factories import make_article, make_member, make_project, make_rater, make_summary, make_system
from tests.metaeval.comparison_rows import rows_of

pytestmark = pytest.mark.django_db

TEXTS = ("Ice.", "The harbour froze over.", "The harbour of the town froze over in January, says the mayor.")


@pytest.fixture
def project():
    """Return a project with two articles by three systems, two groups of raters and two evaluators."""
    project = make_project()
    raters = [make_rater(project, group=group) for group in ("expert", "expert", "crowd")]
    questions = {
        question.key: question for question in Question.objects.filter(questionnaire=project.questionnaire)
    }
    now = timezone.now()
    answers = []
    for number, language in enumerate(("en", "de")):
        article = make_article(project, language=language)
        for place, text in enumerate(TEXTS):
            summary = make_summary(
                project, article=article, text=text, system=make_system(project, f"system-{place}")
            )
            for each, rater in enumerate(raters):
                rating = Rating.objects.create(summary=summary, rater=rater, created_at=now, completed_at=now)
                value = "yes" if (place + number + each) % 3 else "no"
                answers += [
                    Answer(rating=rating, question=question, value=value, created_at=now)
                    for question in questions.values()
                ]
    Answer.objects.bulk_create(answers)
    for evaluator in ("length", "copy_rate"):
        work_on_run(plan_run(project, evaluator, {}).pk)
    project.refresh_from_db()
    return project


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
def test_agreement_has_the_rows_of_the_page(researcher, project, asked, method):
    body = ask(researcher, project, "agreement", limit=1000, **asked, **method)
    assert body["results"] == agreement_rows(project, **asked, method=AgreementMethod(**method))
    assert body["count"] == len(body["results"]) > 0
    assert body["revision"] == project.revision


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"level": "system"},
        {"level": "system", "test": "williams", "interval": "analytic"},
        {"level": "article", "coefficient": "pearson", "test": "paired_t", "margin": 0.05},
        {"coefficient": "kendall_b", "language": "en"},
        {"coefficient": "roc_auc", "group": "crowd"},
    ],
)
def test_the_comparison_has_the_rows_of_the_page(researcher, project, asked):
    body = ask(researcher, project, "comparison", limit=1000, **asked)
    assert body["results"] == rows_of(project, **asked)
    assert len(body["results"]) == 2 * 6
    assert body["revision"] == project.revision


def test_the_comparison_lists_evaluators_with_signature_and_fingerprint(researcher, project):
    body = ask(researcher, project, "comparison")
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


def test_the_comparison_can_be_limited_to_some_evaluators(researcher, project):
    first, second = (str(setup.pk) for setup in project.setups.all())
    body = ask(researcher, project, "comparison", only=[first])
    assert [str(evaluator["setup"]) for evaluator in body["evaluators"]] == [first]
    assert body["results"] == rows_of(project, only=(first,))
    assert len(ask(researcher, project, "comparison", only=[first, second])["evaluators"]) == 2


def test_the_evaluator_card_has_the_rows_of_its_page(researcher, project):
    length = project.setups.get(evaluator="length")
    asked = {"evaluator": str(length.pk), "question": "grammar", "language": "en"}
    body = ask(researcher, project, "evaluator-card", limit=1000, **asked)
    assert body["results"] == card_now(project, PairChoices(**asked)).rows
    assert {row["evaluator"] for row in body["results"]} == {length.label}
    assert body["revision"] == project.revision


def test_an_undefined_value_is_null_with_its_reason(researcher, project):
    body = ask(researcher, project, "comparison", language="de", level="system", limit=1000)
    for row in body["results"]:
        assert (row["value"] is None) == ("reason" in row)
    Rating.objects.all().delete()
    project.bump_revision()
    body = ask(researcher, project, "agreement")
    assert body["results"]
    assert all(row["value"] is None and row["reason"] for row in body["results"])


def test_a_removed_rater_no_longer_counts(researcher, project):
    before = ask(researcher, project, "agreement", limit=1000)
    remove_rater(project.raters.first())
    after = ask(researcher, project, "agreement", limit=1000)
    assert after["revision"] > before["revision"]
    assert {row["raters"] for row in before["results"]} == {3}
    assert {row["raters"] for row in after["results"]} == {2}


def test_an_empty_project_has_an_empty_comparison(client):
    project = make_project()
    client.force_login(make_member(project, "manager"))
    body = ask(client, project, "comparison")
    assert (body["count"], body["evaluators"], body["results"]) == (0, [], [])


@pytest.mark.parametrize(
    ("address", "asked", "said"),
    [
        ("comparison", {"level": "summary"}, "level: found 'summary', expected one of pooled, article"),
        ("comparison", {"coefficient": "rho"}, "coefficient: found 'rho', expected one of pearson, "),
        ("comparison", {"language": "fr"}, "language: found 'fr', expected one of all, de, en"),
        ("comparison", {"test": "paired_t"}, "it is for 'mean over articles'"),
        ("comparison", {"group": "nobody"}, "group: found 'nobody', expected one of all, crowd, expert"),
        ("evaluator-card", {"evaluator": "999999"}, "evaluator: found '999999', expected one of "),
        ("evaluator-card", {"labels": "x"}, "labels: found 'x', expected one of mean, majority"),
        ("comparison", {"only": "999999"}, "found '999999', expected one of "),
        ("comparison", {"only": ["1", "x\x00"]}, "NUL character"),
        ("comparison", {"level": ["pooled", "system"]}, "level: given twice"),
        ("comparison", {"evaluator__params": "x"}, "unknown parameter 'evaluator__params'"),
        ("agreement", {"language": "fr"}, "language: found 'fr', expected one of all, de, en"),
        ("agreement", {"group": "nobody"}, "group: found 'nobody', expected one of all, crowd, expert"),
        (
            "agreement",
            {"interval": "systems"},
            "interval: found 'systems', expected one of by_state, none, always_valid, articles, ",
        ),
        ("agreement", {"resamples": 0}, "resamples"),
        ("agreement", {"scale": "ratio"}, "scale: found 'ratio', expected one of own, "),
        ("agreement", {"rater__user__email": "a@b"}, "unknown parameter"),
    ],
)
def test_unknown_parameters_and_values_are_refused(researcher, project, address, asked, said):
    answer = researcher.get(f"/api/projects/{project.slug}/{address}/", asked)
    assert answer.status_code == 400
    assert said in answer.json()["detail"]


def test_evaluators_of_another_project_are_refused(researcher):
    other = make_project()
    make_summary(other)
    work_on_run(plan_run(other, "length", {}).pk)
    [project] = [row["slug"] for row in researcher.get("/api/projects/").json()["results"]]
    answer = researcher.get(f"/api/projects/{project}/comparison/", {"only": other.setups.get().pk})
    assert answer.status_code == 400


def test_responses_do_not_name_raters(researcher, project):
    rater = project.raters.first()
    for address in ("agreement", "comparison"):
        answer = researcher.get(f"/api/projects/{project.slug}/{address}/?limit=1000").content.decode()
        assert rater.user.username not in answer
        assert f'"{rater.pseudonym}"' not in answer
