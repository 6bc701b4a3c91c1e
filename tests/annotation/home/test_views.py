import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Rater, Rating
from annotation.permissions import may_create_project
from tests.factories import make_member, make_project, make_rater, make_summary, make_user

pytestmark = pytest.mark.django_db


def page(user):
    client = Client()
    client.force_login(user)
    response = client.get(reverse("home"))
    assert response.status_code == 200
    return response.content.decode()


def test_a_platform_without_users_shows_how_to_create_one():
    text = Client().get(reverse("home")).content.decode()
    assert "manage.py createsuperuser" in text


def test_a_stranger_is_redirected_to_sign_in_once_there_are_users():
    make_user()
    assert Client().get(reverse("home")).url == reverse("sign_in")


def test_a_manager_sees_the_progress_of_their_own_projects_only():
    project, other = make_project(), make_project()
    make_summary(project)
    make_summary(project, open_places=0)
    text = page(make_member(project, "manager"))
    assert "<strong>1</strong> of 2 needed ratings" in text
    assert reverse("progress", args=[project.slug]) in text
    assert other.name not in text


def test_an_annotator_sees_their_daily_count_but_not_the_projects_progress():
    project = make_project(daily_goal=7)
    rater = make_rater(project)
    now = timezone.now()
    Rating.objects.create(summary=make_summary(project), rater=rater, created_at=now, completed_at=now)
    text = page(rater.user)
    assert "<strong>1</strong> of 7 today" in text
    assert reverse("rate", args=[project.slug]) in text
    assert f'href="{reverse("progress", args=[project.slug])}"' not in text


@pytest.mark.parametrize(
    ("status", "shown", "can_rate"),
    [("training", "Pass a gold round", True), ("suspended", "You are suspended", False)],
)
def test_raters_who_are_not_qualified_see_their_status(status, shown, can_rate):
    rater = make_rater(make_project(), status=status)
    text = page(rater.user)
    assert shown in text
    assert (reverse("rate", args=[rater.project.slug]) in text) is can_rate


def test_a_removed_rater_no_longer_sees_the_project():
    rater = make_rater(make_project(), status=Rater.Status.REMOVED)
    text = page(rater.user)
    assert rater.project.name not in text
    assert "No projects yet" in text


def test_one_project_with_two_roles_is_one_card():
    project = make_project()
    rater = make_rater(project)
    project.memberships.create(user=rater.user, role="researcher")
    assert page(rater.user).count(f"<h2>{project.name}</h2>") == 1


def test_only_administrators_and_managers_may_create_projects():
    project = make_project()
    admin = get_user_model().objects.create_superuser("admin", password="a-long-enough-password")
    researcher, annotator = make_member(project, "researcher"), make_rater(project).user
    allowed = [may_create_project(user) for user in (admin, make_member(project, "manager"))]
    refused = [may_create_project(user) for user in (researcher, annotator, make_user())]
    assert (allowed, refused) == ([True, True], [False, False, False])
    assert reverse("project_new") in page(admin)
    assert reverse("project_new") not in page(researcher)


def test_twenty_projects_need_no_more_queries_than_ten(django_assert_max_num_queries):
    user = make_user()
    client = Client()
    client.force_login(user)

    def join(count):
        for _ in range(count):
            project = make_project()
            make_summary(project)
            make_rater(project, user=user)
            project.memberships.create(user=user, role="researcher")

    join(10)
    with django_assert_max_num_queries(100) as ten:
        client.get(reverse("home"))
    join(10)
    with django_assert_max_num_queries(len(ten)):
        client.get(reverse("home"))


def test_a_projects_name_and_description_are_escaped():
    project = make_project(name="<script>a</script>", description="<img src=x onerror=b>")
    text = page(make_member(project, "manager"))
    assert "<script>a" not in text
    assert "<img" not in text
