"""What a rating costs the database: the statements of its three requests."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation import protocol
from annotation.guidelines.following import confirm_guidelines
from annotation.models import Assignment, Rating
from annotation.rating.assigning import take_assignment
from tests.annotation.rating.rating_steps import FIRST, HTMX, SECOND, THIRD, address, sheet, signed_in
from tests.factories import make_gold, make_project, make_rater, make_summary, publish_guidelines

MOST_OF_A_RATING = 25
MOST_OF_A_REQUEST = 10


@pytest.mark.django_db(transaction=True)
def test_a_rating_and_the_next_summary_take_few_statements():
    """A rater in the middle of their day, with guidelines, a gold set, hidden checks and a rating to undo."""
    project = make_project(protocol.SEAHORSE, check_rate=1e-9)
    version = publish_guidelines(project)
    for _ in range(4):
        make_summary(project)
    for _ in range(2):
        make_gold(project)
    rater = make_rater(project)
    confirm_guidelines(rater, [version.pk])
    browser = signed_in(rater.user)
    assignment = take_assignment(rater)
    requests = []
    for _ in range(2):  # the first rating also reads what the process keeps
        requests = []
        for stage, answers in ((1, FIRST), (2, SECOND), (3, THIRD)):
            page, form = address(assignment), sheet(stage, answers)
            with CaptureQueriesContext(connection) as statements:
                response = browser.post(page, form, headers=HTMX)
            assert response.status_code == 200
            requests.append([each["sql"] or "(from a kept plan)" for each in statements])
        assignment = Assignment.objects.get(state=Assignment.State.OPEN)
        assert f"/rate/{assignment.pk}/" in response.content.decode()
    assert Rating.objects.filter(completed_at__isnull=False).count() == 2
    listed = "\n".join(
        f"stage {stage}, {len(each)} statements:\n"
        + "\n".join(f"  {' '.join(sql.split())[:160]}" for sql in each)
        for stage, each in enumerate(requests, 1)
    )
    assert max(map(len, requests)) <= MOST_OF_A_REQUEST, listed
    assert sum(map(len, requests)) <= MOST_OF_A_RATING, listed
