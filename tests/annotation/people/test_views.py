"""The People page: invitations, raters' statuses and members."""

import re
from datetime import timedelta

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.errors import NotFound
from annotation.models import Invitation, Membership, Rater, Rating
from annotation.people.invitations import find_invitation, invite
from annotation.rating.assigning import take_assignment
from tests.annotation.rating.rating_steps import at_stage, signed_in
from tests.factories import make_article, make_member, make_project, make_rater, make_summary, make_user

pytestmark = pytest.mark.django_db

SCRIPT = "<script>alert(1)</script>"
WHY = {"reason": "Answers at random."}


@pytest.fixture
def client(project):
    return signed_in(make_member(project, "manager"))


def address(name, project, *ids):
    return reverse(name, args=[project.slug, *ids])


def status_of(rater):
    return Rater.objects.get(pk=rater.pk).status


def invited(client, project, **form):
    response = client.post(address("people", project), form)
    link = re.search(r'value="http://testserver/invitations/([\w-]+)/"', response.content.decode())
    return response, link and link.group(1)


def test_an_invitation_shows_its_link_once(project, client):
    make_summary(project, language="de")
    response, token = invited(
        client,
        project,
        role="annotator",
        languages=["de"],
        other_languages="pt-BR, tr",
        note="Frau Tietze",
    )
    assert response.status_code == 200
    invitation = find_invitation(token)
    assert (invitation.languages, invitation.note) == (["de", "pt-BR", "tr"], "Frau Tietze")
    assert token not in client.get(address("people", project)).content.decode()
    assert "Frau Tietze" in client.get(address("invitations", project)).content.decode()


@pytest.mark.parametrize(
    ("form", "complaint"),
    [
        ({"role": "annotator"}, "Choose at least one language"),
        ({"role": "annotator", "other_languages": "German"}, "Found German"),
        ({"role": "annotator", "other_languages": f"de,{SCRIPT}"}, "Found &lt;script&gt;"),
        ({"role": "annotator", "languages": ["xx"]}, "Select a valid choice"),
        ({"role": "superuser"}, "Select a valid choice"),
        ({"role": "researcher", "note": "x" * 121}, "at most 120"),
    ],
)
def test_an_invalid_invitation_is_refused(project, client, form, complaint):
    make_summary(project)
    response, token = invited(client, project, **form)
    assert response.status_code == 422
    assert complaint in response.content.decode()
    assert token is None
    assert not Invitation.objects.exists()


def test_a_project_without_articles_still_asks_for_a_language(project, client):
    response, _ = invited(client, project, role="annotator")
    assert "Choose at least one language" in response.content.decode()


def test_invitations_are_listed_by_status_and_a_revoked_one_does_not_work(project, client):
    invitation, token = invite(project, "researcher", note="Dr. Open")
    used, _ = invite(project, "researcher", email="used@example.org")
    Invitation.objects.filter(pk=used.pk).update(accepted_at=timezone.now(), accepted_by=make_user("ada"))
    invite(make_project(), "researcher", note="Dr. Elsewhere")
    listed = address("invitations", project)
    text = client.get(listed).content.decode()
    assert all(part in text for part in ("Dr. Open", "used@example.org", "used by ada"))
    assert "Elsewhere" not in text
    assert "Dr. Open" not in client.get(listed, {"status": "used"}).content.decode()
    assert client.post(address("invitation_revoke", project, invitation.pk)).url == listed
    assert "Dr. Open" in client.get(listed, {"status": "revoked"}).content.decode()
    assert "No invitation is open" in client.get(listed, {"status": "open"}).content.decode()
    with pytest.raises(NotFound):
        find_invitation(token)


LIST = "ada@example.org\nben@example.org, annotator, tr vi\n\ncem@example.org;manager"


def test_a_pasted_list_is_invited_and_its_links_are_shown_to_copy(project, client):
    response, _ = invited(client, project, role="annotator", other_languages="de", people=LIST, note="May")
    text = response.content.decode()
    found = dict(re.findall(r"(\w+@example.org)\thttp://testserver/invitations/([\w-]+)/", text))
    made = {email: find_invitation(token) for email, token in found.items()}
    assert {email: (each.role, each.languages) for email, each in made.items()} == {
        "ada@example.org": ("annotator", ["de"]),
        "ben@example.org": ("annotator", ["tr", "vi"]),
        "cem@example.org": ("manager", []),
    }
    assert {each.note for each in made.values()} == {"May"}
    assert mail.outbox == []
    joining = Client().get(reverse("invitation", args=[found["ada@example.org"]])).content.decode()
    assert 'value="ada@example.org"' in joining


def test_a_list_with_an_invalid_line_invites_nobody(project, client):
    response, _ = invited(client, project, role="researcher", people=f"{LIST}\nada@\nx@y.org,{SCRIPT}")
    text = response.content.decode()
    assert response.status_code == 422
    assert "Line 5: found “ada@”, expected an e-mail address." in text
    assert "Line 6: found “&lt;script&gt;" in text
    assert not Invitation.objects.exists()


def test_with_a_mail_server_links_are_mailed_and_not_shown(project, client, settings):
    settings.EMAIL_URL = "smtp://mail.example.org"
    project.name = "Two\nlines"
    project.save()
    text = client.post(
        address("people", project), {"role": "researcher", "people": "ada@example.org"}, follow=True
    ).content.decode()
    [sent] = mail.outbox
    assert (sent.to, sent.subject) == (["ada@example.org"], "Invitation to Two lines")
    token = re.search(r"http://testserver/invitations/([\w-]+)/", sent.body).group(1)
    assert find_invitation(token).email == "ada@example.org"
    assert token not in text
    assert "1 invitation sent by e-mail" in text


def test_a_failing_mail_server_leaves_the_links_to_copy(project, client, settings):
    settings.EMAIL_URL = "smtp://127.0.0.1:9"
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 9  # nothing listens there
    text = client.post(address("people", project), {"role": "researcher", "people": LIST}).content.decode()
    assert "did not take 3 mails" in text
    assert text.count("/invitations/") > 3


@pytest.mark.parametrize(
    ("before", "name", "after"),
    [
        ("training", "rater_suspend", "suspended"),
        ("qualified", "rater_suspend", "suspended"),
        ("qualified", "rater_remove", "removed"),
    ],
)
def test_a_manager_changes_and_reinstates_a_raters_status(project, client, before, name, after):
    rater = make_rater(project, status=before)
    assert client.post(address(name, project, rater.pk), WHY).url == address("people", project)
    assert status_of(rater) == after
    if after in ("suspended", "removed"):
        assert "<q>Answers at random.</q>" in client.get(address("people", project)).content.decode()
        client.post(address("rater_reinstate", project, rater.pk), WHY)
        assert status_of(rater) in (before, "qualified")
        assert "<q>" not in client.get(address("people", project)).content.decode()


@pytest.mark.parametrize(
    ("before", "name"),
    [("removed", "rater_suspend"), ("training", "rater_reinstate")],
)
def test_an_invalid_status_change_is_refused(project, client, before, name):
    rater = make_rater(project, status=before)
    assert client.post(address(name, project, rater.pk), WHY).status_code == 403
    assert status_of(rater) == before


def test_a_raters_status_does_not_change_without_a_reason(project, client):
    rater = make_rater(project)
    for name in ("rater_suspend", "rater_remove"):
        assert "Suspend" in client.get(address("people", project)).content.decode()
        refused = client.post(address(name, project, rater.pk), {"reason": " "})
        assert refused.status_code == 422
        assert "Enter the reason" in refused.content.decode()
    assert status_of(rater) == "qualified"


def test_a_manager_changes_a_raters_languages(project, client):
    make_summary(project, language="de")
    rater = make_rater(project, languages=["de", "tr"])
    page = client.get(address("rater_languages", project, rater.pk)).content.decode()
    assert 'value="de" checked' in " ".join(page.replace('id="id_languages_0" ', "").split())
    assert 'name="other_languages" value="tr"' in page
    form = {"languages": ["de"], "other_languages": "vi"}
    assert client.post(address("rater_languages", project, rater.pk), form).url == address("people", project)
    assert Rater.objects.get(pk=rater.pk).languages == ["de", "vi"]
    refused = client.post(address("rater_languages", project, rater.pk), {})
    assert refused.status_code == 422
    assert "Choose at least one language" in refused.content.decode()
    assert Rater.objects.get(pk=rater.pk).languages == ["de", "vi"]


def test_removing_a_rater_shows_the_effect_and_asks_for_confirmation(project, client):
    rater = make_rater(project)
    now = timezone.now()
    for _ in range(2):
        Rating.objects.create(
            summary=make_summary(project, open_places=0), rater=rater, created_at=now, completed_at=now
        )
    text = client.get(address("rater_remove", project, rater.pk)).content.decode()
    assert "<b>2 ratings</b>" in text
    assert "<b>2 summaries</b>" in text
    assert "Nothing is deleted" in text
    assert status_of(rater) == "qualified"


@pytest.mark.parametrize("name", ["rater_qualify", "invitation_revoke"])
def test_changes_need_a_post(project, client, name):
    rater = make_rater(project, pk=1)
    assert client.get(address(name, project, rater.pk)).status_code == 405


def test_changes_need_the_csrf_token(project):
    rater = make_rater(project)
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(make_member(project, "manager"))
    assert strict.post(address("rater_remove", project, rater.pk), WHY).status_code == 403
    assert status_of(rater) == "qualified"


def test_removing_a_member_asks_first_and_refuses_the_last_manager(project, client):
    researcher = make_member(project, "researcher")
    membership = Membership.objects.get(user=researcher)
    asked = client.get(address("member_remove", project, membership.pk)).content.decode()
    assert researcher.username in asked
    assert Membership.objects.filter(pk=membership.pk).exists()
    client.post(address("member_remove", project, membership.pk))
    assert not Membership.objects.filter(pk=membership.pk).exists()
    last = Membership.objects.get(project=project)
    refused = client.post(address("member_remove", project, last.pk))
    assert refused.status_code == 403
    assert "needs a manager" in refused.content.decode()


def test_a_manager_who_leaves_is_redirected_to_the_home_page(project, client):
    make_member(project, "manager")
    own = Membership.objects.filter(project=project).earliest("pk")
    assert client.post(address("member_remove", project, own.pk)).url == reverse("home")


@pytest.mark.parametrize("role", ["researcher", "annotator", "stranger"])
def test_only_managers_see_names_and_change_raters(project, role):
    rater = make_rater(project)
    user = {
        "researcher": lambda: make_member(project, "researcher"),
        "annotator": lambda: make_rater(project).user,
        "stranger": make_user,
    }[role]()
    client = Client()
    client.force_login(user)
    for name, ids in (("people", []), ("rater_remove", [rater.pk])):
        response = client.get(address(name, project, *ids))
        assert response.status_code == (404 if role == "stranger" else 403)
        assert rater.user.username not in response.content.decode()
    for name in ("rater_suspend", "rater_remove"):
        client.post(address(name, project, rater.pk), WHY)
    assert status_of(rater) == "qualified"


def test_raters_of_another_project_are_not_found(project, client):
    foreign = make_rater(make_project())
    assert client.post(address("rater_remove", project, foreign.pk), WHY).status_code == 404
    assert status_of(foreign) == "qualified"


def test_names_notes_and_groups_are_escaped(project, client):
    user = make_user(f"u{SCRIPT}")
    rater = make_rater(project, user=user, pseudonym=f"r{SCRIPT}", group=SCRIPT, languages=["<b>"])
    invite(project, "annotator", ["en"], f"n{SCRIPT}")
    for name, ids in (("people", []), ("invitations", []), ("rater_remove", [rater.pk])):
        text = client.get(address(name, project, *ids)).content.decode()
        assert SCRIPT not in text
        assert "&lt;script&gt;" in text


def test_twenty_rows_need_no_more_queries_than_ten(project, client, django_assert_max_num_queries):
    def grow():
        for _ in range(10):
            rater = make_rater(project)
            rater.rounds.create(language="en", number=1, decided_at=timezone.now(), passed=True)
            make_member(project, "researcher")
            invite(project, "researcher")

    grow()
    pages = [address("people", project), address("invitations", project)]
    with django_assert_max_num_queries(60) as ten:
        for page in pages:
            client.get(page)
    grow()
    with django_assert_max_num_queries(len(ten)):
        for page in pages:
            client.get(page)


def test_a_manager_who_rates_sees_others_answers_after_they_stop(project):
    manager = make_member(project, "manager")
    own = make_rater(project, user=manager)
    summary = make_summary(project, article=make_article(project, text="THE ARTICLE."))
    at_stage(take_assignment(make_rater(project)), 4)
    client = Client()
    client.force_login(manager)
    closed = [
        address("summary", project, summary.pk),
        address("adjudication", project),
        address("contradictions", project),
        address("exports", project),
        reverse("api_export", args=[project.slug, "ratings"]),
    ]
    gold = address("gold_answers", project, summary.pk)
    for page in closed:
        refused = client.get(page)
        assert refused.status_code == 403
        assert b"choose Stop rating" in refused.content
    assert not client.get(gold).context["is_proposed"]

    stop = address("rating_stop", project)
    assert stop in client.get(address("history", project)).content.decode()
    assert b"Your ratings still count" in client.get(stop).content
    client.post(stop)
    own.refresh_from_db()
    assert own.status == Rater.Status.SUSPENDED
    assert {client.get(page).status_code for page in closed} == {200}
    assert client.get(gold).context["is_proposed"]
    assert stop not in client.get(address("history", project)).content.decode()


def test_somebody_who_only_rates_cannot_stop_by_themselves(project):
    rater = make_rater(project)
    client = Client()
    client.force_login(rater.user)
    assert client.get(address("rating_stop", project)).status_code == 404
    assert client.post(address("rating_stop", project)).status_code == 403
    assert address("rating_stop", project) not in client.get(address("history", project)).content.decode()


def order_of(client, project, sort):
    page = client.get(address("people", project), {"sort": sort}).content.decode()
    names = re.findall(r"<b><a href=[^>]+>([^<]+)</a></b>", page)
    sorted_by = re.findall(r'aria-sort="(\w+)"><a\s+href="\?sort=([\w-]+)">([^<]+)', page)
    return names, sorted_by


def test_raters_are_sorted_by_a_column(project, client):
    now = timezone.now()
    for name, status, ratings in (("b-10", "removed", 1), ("b-9", "training", 2), ("a", "qualified", 0)):
        rater = make_rater(project, pseudonym=name, status=status)
        for day in range(ratings):
            when = now - timedelta(days=3 * ratings + day)
            summary = make_summary(project, open_places=0)
            Rating.objects.create(summary=summary, rater=rater, created_at=when, completed_at=when)
    assert order_of(client, project, "") == (["a", "b-9", "b-10"], [("ascending", "-name", "Rater")])
    assert order_of(client, project, "-name")[0] == ["b-10", "b-9", "a"]
    assert order_of(client, project, "status")[0] == ["b-9", "a", "b-10"]
    assert order_of(client, project, "-ratings") == (
        ["b-9", "b-10", "a"],
        [("descending", "ratings", "Ratings")],
    )
    assert order_of(client, project, "last")[0] == ["a", "b-9", "b-10"]


@pytest.mark.parametrize("sort", ["--name", "-", "pk", "9" * 5000])
def test_an_unknown_column_sorts_by_name(project, client, sort):
    make_rater(project)
    assert order_of(client, project, sort)[1] == [("ascending", "-name", "Rater")]
