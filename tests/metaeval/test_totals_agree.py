"""Rating totals of the demo project, which all pages must agree on."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.demo.load import SLUG, load_demo_project
from annotation.models import Rater, Rating, Summary

pytestmark = pytest.mark.django_db


def page_text(client: Client, name: str) -> str:
    page = client.get(reverse(name, args=[SLUG])).content.decode()
    return " ".join(re.sub("<[^>]+>", " ", page).split())


def find_number(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    assert found, f"{pattern} is not in: {text}"
    return int(found[1].replace(",", ""))


def test_progress_and_result_pages_show_the_same_rating_total():
    load_demo_project()
    now = timezone.now()
    summary = Summary.objects.filter(project__slug=SLUG, ratings__isnull=True).first()
    assert summary
    for pseudonym in ("rater-1", "rater-2"):  # more ratings than the summary needs
        rater = Rater.objects.get(project__slug=SLUG, pseudonym=pseudonym)
        Rating.objects.create(summary=summary, rater=rater, created_at=now, completed_at=now)
    client = Client()
    client.force_login(User.objects.get(username="demo-manager"))
    progress = page_text(client, "progress")
    total = find_number(r"All ratings ([\d,]+)", progress)
    assert total == Rating.objects.countable().count() > 100
    for page in ("agreement", "comparison"):
        assert find_number(r"([\d,]+) ratings\b", page_text(client, page)) == total
    collected = find_number(r"([\d,]+) collected, ", progress)
    assert collected + find_number(r"collected, ([\d,]+) imported", progress) == total


def test_imported_ratings_do_not_count_as_collected_today():
    load_demo_project()
    assert Rating.objects.update(completed_at=timezone.now()) > 100
    client = Client()
    client.force_login(User.objects.get(username="demo-manager"))
    assert find_number(r"Collected today ([\d,]+)", page_text(client, "progress")) == 0
