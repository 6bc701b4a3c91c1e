"""The page on which a rater chooses a language."""

import pytest
from django.urls import reverse

from annotation.models import Rater
from tests.annotation.rating.rating_steps import signed_in, text_of
from tests.factories import make_gold, make_project, make_rater, make_summary

pytestmark = pytest.mark.django_db


def test_a_rater_of_two_languages_chooses_and_rates_or_trains_in_the_chosen_one():
    project = make_project()
    make_gold(project, language="de")
    make_summary(project, language="en", text="ENGLISH SUMMARY.")
    rater = make_rater(project, languages=["de", "en"])
    rater.qualifications.get(language="de").delete()
    browser = signed_in(rater.user)
    rate, languages = (reverse(name, args=[project.slug]) for name in ("rate", "rate_languages"))
    assert browser.get(rate).url == languages
    page = text_of(browser.get(languages))
    assert "1 summary to rate" in page
    assert "Pass a gold round before you rate" in page
    item = text_of(browser.post(languages, {"language": "en"}, follow=True))
    assert "ENGLISH SUMMARY." in item
    assert languages in item
    assert "Gold round in German" in text_of(browser.post(languages, {"language": "de"}, follow=True))
    assert browser.post(languages, {"language": "vi"}).status_code == 400
    assert Rater.objects.get().chosen_language == "de"
