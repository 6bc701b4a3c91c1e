"""A rater with one summary to rate, signed in."""

import pytest
from django.test import Client

from annotation.models import Assignment, Rater
from annotation.rating.assigning import take_assignment
from tests.annotation.rating.rating_steps import signed_in
from tests.factories import make_article, make_summary


@pytest.fixture
def browser(rater: Rater) -> Client:
    return signed_in(rater.user)


@pytest.fixture
def assignment(rater: Rater) -> Assignment | None:
    article = make_article(rater.project, title="THE TITLE", text="THE ARTICLE.")
    make_summary(rater.project, article=article, text="THE SUMMARY.", shuffle_key=0)
    return take_assignment(rater)
