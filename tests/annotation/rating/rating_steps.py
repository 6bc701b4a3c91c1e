"""Steps of rating tests: the page's form, its addresses and going to a stage."""

from django.test import Client
from django.urls import reverse

from annotation.rating.desk import desk_at
from annotation.rating.submitting import GivenAnswer, submit_at

FIRST = {"comprehensibility": "yes"}
SECOND = {"repetition": "yes", "grammar": "no"}
THIRD = {"attribution": "yes", "main_ideas": "unsure", "conciseness": "no"}
HTMX = {"HX-Request": "true"}


def submit_stage(rater, assignment_id, stage, given, now=None, **options):
    """Submit a stage as the rater's page does. Return the assignment."""
    return submit_at(desk_at(rater, assignment_id), stage, given, now, **options).assignment


def sheet(stage, answers, **comments):
    """Return the rating page's form."""
    return (
        {"stage": stage}
        | {f"answer-{key}": value for key, value in answers.items()}
        | {f"comment-{key}": text for key, text in comments.items()}
    )


def address(assignment, name="rate_item"):
    return reverse(name, args=[assignment.rater.project.slug, assignment.pk])


def signed_in(user, **options):
    client = Client(**options)
    client.force_login(user)
    return client


def at_stage(assignment, stage):
    """Submit the earlier stages and return the assignment; stage 4 means finished."""
    for number, answers in ((1, FIRST), (2, SECOND), (3, THIRD)):
        if number < stage:
            given = {key: GivenAnswer(value) for key, value in answers.items()}
            submit_stage(assignment.rater, assignment.pk, number, given)
    assignment.refresh_from_db()
    return assignment


def text_of(response):
    return " ".join(response.content.decode().split())
