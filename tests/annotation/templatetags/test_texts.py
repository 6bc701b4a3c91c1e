from datetime import timedelta

from django.templatetags import i18n
from django.utils.translation import override

from annotation.templatetags import figures, page, texts
from annotation.templatetags.texts import (
    answer_label,
    answer_mark,
    direction,
    language_name,
    languages,
    minutes,
    paragraphs,
    percent,
    reading_length,
    shown_label,
)


def test_direction_follows_the_primary_language(subtests):
    cases = [("en", "ltr"), ("ar", "rtl"), ("he-IL", "rtl"), ("fa_IR", "rtl"), ("az", "ltr"), ("", "ltr")]
    for language, expected in cases:
        with subtests.test(language=language, expected=expected):
            assert direction(language) == expected


def test_languages_are_named_and_unknown_codes_are_kept():
    assert language_name("de") == "German"
    assert language_name("x-klingon") == "x-klingon"
    assert languages(["en"]) == "English"
    assert languages(["de", "en", "vi"]) == "German, English and Vietnamese"


def test_paragraphs_are_the_non_blank_lines():
    assert paragraphs("One.\n\n  Two. \nThree.\n") == ["One.", "Two.", "Three."]
    assert paragraphs("  \n") == []


def test_a_reading_length_is_given_only_for_languages_with_spaces():
    assert reading_length("word " * 440, "en") == "440 words · about 2 min"
    assert reading_length("word", "en") == "1 word · about 1 min"
    assert reading_length("字" * 400, "zh-Hans") == ""


def test_percentages_round_down_so_a_missed_threshold_never_looks_reached():
    assert percent(0.8) == "80%"
    assert percent(0.7999) == "79%"
    assert percent(0.29) == "29%", "0.29 * 100 is 28.999... in floating point"
    assert percent(1.0) == "100%"


def test_durations_and_answers_are_written_out():
    assert minutes(timedelta(minutes=15)) == "15 minutes"
    assert minutes(timedelta(minutes=1)) == "1 minute"
    assert (answer_mark("yes"), answer_label("yes")) == ("✓", "Yes")
    assert (answer_mark("4"), answer_label("4")) == ("", "4")
    assert answer_label("not_sure") == "Not sure"


def test_no_filter_has_a_name_of_djangos():
    """A template that loads both would take the one that it loads last."""
    for library in (texts, figures, page):
        assert set(library.register.filters).isdisjoint(i18n.register.filters)
        assert set(library.register.tags).isdisjoint(i18n.register.tags)


def test_languages_and_answers_are_named_in_the_readers_language():
    with override("tr"):
        assert language_name("de") == "Almanca"
        assert languages(["de", "en"]) == "Almanca ve İngilizce"
        assert shown_label("yes") == "Evet"
        assert answer_label("yes") == "Yes"
