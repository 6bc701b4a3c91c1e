"""The page that defines a questionnaire."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from annotation import protocol
from annotation.models import Questionnaire
from annotation.projects.settings import store_questionnaire
from tests.factories import make_member, make_project, make_rater, make_user

pytestmark = pytest.mark.django_db

SCRIPT = "<script>alert(1)</script>"
POINTS = {"scale": "points", "low": 1, "high": 7}


@pytest.fixture
def client():
    client = Client()
    client.force_login(make_member(make_project(), "manager"))
    return client


def question(**changes):
    given = {"title": "Clear", "wording": "Is it clear?", "stage": 1, "scale": "yes_no_unsure"}
    return given | {"low": 1, "high": 5} | changes


def form(*questions, **changes):
    sent = {"title": "Clarity", "stage_titles": "Reading\nWith the article", "form-INITIAL_FORMS": 0}
    sent |= {"form-TOTAL_FORMS": len(questions)}
    for number, each in enumerate(questions):
        sent |= {f"form-{number}-{name}": value for name, value in each.items()}
    return sent | changes


TWO = (
    question(stops_rating_on="No"),
    question(title="Main ideas", wording="All of them?", stage=2, needs_article="on", **POINTS),
)


def send(client, *questions, **changes):
    return client.post(reverse("questionnaire_new"), form(*questions, **changes))


def custom_questionnaires():
    return Questionnaire.objects.exclude(key__in=protocol.BUILT_IN)


def test_a_new_questionnaire_is_stored_and_preselected_for_a_new_project(client):
    response = send(client, *TWO)
    assert response.url == reverse("project_new") + "?questionnaire=clarity"
    made = custom_questionnaires().get().protocol
    assert made == protocol.Questionnaire(
        key="clarity",
        title="Clarity",
        stage_titles=("Reading", "With the article"),
        questions=(
            protocol.Question(
                "clear", "clear", "Clear", "Is it clear?", 1, protocol.YES_NO_UNSURE, stops_rating_on=("no",)
            ),
            protocol.Question(
                "main_ideas",
                "main_ideas",
                "Main ideas",
                "All of them?",
                2,
                protocol.Scale(protocol.ScaleKind.ORDINAL, low=1, high=7),
                needs_article=True,
            ),
        ),
    )
    assert (
        'value="clarity" id="id_questionnaire_4" required checked'
        in client.get(response.url).content.decode()
    )


def test_empty_questions_are_dropped(client):
    empty = {"title": "", "wording": "", "stage": 1, "scale": "yes_no_unsure", "low": 1, "high": 5}
    send(client, TWO[0], empty, TWO[1], empty)
    assert custom_questionnaires().get().questions.count() == 2


def test_questions_are_sorted_by_stage(client):
    send(client, TWO[1], TWO[0])
    assert [each.key for each in custom_questionnaires().get().protocol.questions] == ["clear", "main_ideas"]


@pytest.mark.parametrize(
    ("questions", "changes", "complaint"),
    [
        ((), {}, "Add at least one question"),
        (TWO, {"title": "Ясность"}, "letters a-z"),
        (TWO, {"title": "SEAHORSE"}, "Another questionnaire has the key"),
        (TWO, {"stage_titles": "Reading"}, "needs stages 1..1"),
        (TWO, {"stage_titles": "One\nTwo\nThree"}, "needs stages 1..3"),
        ((TWO[0], TWO[0] | {"wording": "Once more?"}), {"stage_titles": "One"}, "the same key"),
        ((question(wording=""),), {"stage_titles": "One"}, "This field is required"),
        ((question(**POINTS | {"high": 1}),), {"stage_titles": "One"}, "a higher highest point"),
        ((question(scale="points", low=-100, high=100),), {"stage_titles": "One"}, "at most 101 points"),
        (
            (question(stops_rating_on="never"),),
            {"stage_titles": "One"},
            "expected answers of the scale: yes, no, unsure",
        ),
        (TWO, {"form-TOTAL_FORMS": "13"}, "at most 12"),
        (TWO, {"form-TOTAL_FORMS": "x"}, "Add at least one question"),
    ],
)
def test_an_invalid_questionnaire_is_refused(client, questions, changes, complaint):
    make_project()  # stores the SEAHORSE questionnaire
    response = send(client, *questions, **changes)
    assert response.status_code == 422
    assert complaint in response.content.decode()
    assert not custom_questionnaires().exists()


def test_only_users_who_may_create_projects_define_questionnaires():
    project = make_project()
    for user in (make_member(project, "researcher"), make_rater(project).user, make_user()):
        client = Client()
        client.force_login(user)
        assert send(client, *TWO).status_code == 403
    assert Client().get(reverse("questionnaire_new")).status_code == 302
    assert not custom_questionnaires().exists()


def test_titles_are_escaped(client):
    send(client, TWO[0], TWO[1], title=f"Clear {SCRIPT}")
    text = client.get(reverse("project_new")).content.decode()
    assert SCRIPT not in text
    assert "Clear &lt;script&gt;" in text
    refused = send(client, question(title=SCRIPT, wording=""), title=SCRIPT).content.decode()
    assert SCRIPT not in refused


def shown(page):
    """Return the names of the questions on a page, in order."""
    inputs = re.findall(r'<input [^>]*name="form-\d+-title"[^>]*>', page)
    return [(re.findall(r'value="([^"]*)"', each) or [""])[0] for each in inputs]


@pytest.mark.parametrize(
    ("edit", "names"),
    [
        ("add", ["Clear", "Main ideas", ""]),
        ("remove-0", ["Main ideas"]),
        ("up-1", ["Main ideas", "Clear"]),
        ("down-0", ["Main ideas", "Clear"]),
        ("up-0", ["Clear", "Main ideas"]),
        ("down-1", ["Clear", "Main ideas"]),
        ("remove-7", ["Clear", "Main ideas"]),
        ("remove-" + "9" * 5000, ["Clear", "Main ideas"]),
        ("nonsense", ["Clear", "Main ideas"]),
    ],
)
def test_editing_the_list_of_questions_keeps_what_was_typed(client, edit, names):
    response = send(client, *TWO, title="My title", stage_titles="One\nTwo", edit=edit)
    page = response.content.decode()
    assert response.status_code == 200
    assert shown(page) == names
    assert 'value="My title"' in page
    assert "One\nTwo</textarea>" in page
    assert "Main ideas" not in names or (page.count(" checked"), page.count('value="7"')) == (1, 1)
    assert "This field is required" not in page
    assert not custom_questionnaires().exists()


def test_a_new_questionnaire_has_three_questions_and_grows_to_twelve(client):
    page = client.get(reverse("questionnaire_new")).content.decode()
    assert shown(page) == [""] * 3
    full = send(client, *TWO, *[question(title="") for _ in range(10)], edit="add").content.decode()
    assert len(shown(full)) == 12
    assert "Add question" not in full


def test_a_questionnaire_is_created_from_edited_questions(client):
    context = send(client, *TWO, edit="add").context
    assert context["questions"].management_form["INITIAL_FORMS"].value() == 0
    assert context["questions"].management_form["TOTAL_FORMS"].value() == 3


def filled_in(response):
    """Return what the browser sends when a filled form is submitted as it is."""
    shown = [
        response.context["form"],
        response.context["questions"].management_form,
        *response.context["questions"],
    ]
    values = {field.html_name: field.value() for each in shown for field in each}
    return {
        name: "on" if value is True else value
        for name, value in values.items()
        if value is not None and value is not False
    }


@pytest.mark.parametrize("key", protocol.BUILT_IN)
def test_a_copy_asks_the_same_questions_under_a_title_of_its_own(client, key):
    copied = protocol.BUILT_IN[key]
    sent = filled_in(client.get(reverse("questionnaire_new"), {"copy": key}))
    assert client.post(reverse("questionnaire_new"), sent).status_code == 302
    made = custom_questionnaires().get().protocol
    assert (made.questions, made.stage_titles) == (copied.questions, copied.stage_titles)
    assert made.title == f"Copy of {copied.title}"
    again = client.get(reverse("questionnaire_new"), {"copy": made.key}).context["form"]
    assert again["title"].value() == f"Copy of {made.title}"


def test_a_copied_question_keeps_its_dimension_in_other_words(client):
    sent = filled_in(client.get(reverse("questionnaire_new"), {"copy": "seahorse"}))
    sent |= {"form-3-title": "Treue", "form-3-wording": "Steht alles im Artikel?", "title": "Deutsch"}
    client.post(reverse("questionnaire_new"), sent)
    question = custom_questionnaires().get().protocol.question("attribution")
    assert (question.title, question.dimension) == ("Treue", "attribution")


def test_questions_that_the_form_cannot_hold_are_not_offered_for_copying(client):
    interval = protocol.Scale(protocol.ScaleKind.INTERVAL, low=0, high=1)
    asked = protocol.Question("share", "share", "Share", "How much?", 1, interval)
    store_questionnaire(protocol.Questionnaire("imported", "Imported", ("All",), (asked,)))
    page = client.get(reverse("questionnaire_new"), {"copy": "imported"}).content.decode()
    assert '<option value="seahorse">' in page
    assert "imported" not in page
