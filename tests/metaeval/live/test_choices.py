"""A reader's choices, stored in the page's address."""

from django.http import QueryDict
from hypothesis import given
from hypothesis import strategies as st

from metaeval.live.choices import ComparisonChoices

texts = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1)


def test_an_address_without_choices_gives_the_defaults():
    assert ComparisonChoices.read(QueryDict("")) == ComparisonChoices()
    assert ComparisonChoices.read(QueryDict("level=&revision=7&foreign=x")) == ComparisonChoices()
    assert ComparisonChoices().address() == "?"


def test_the_last_of_several_values_counts_and_lists_keep_all():
    read = ComparisonChoices.read(QueryDict("level=a&level=b&only=1&only=2"))
    assert (read.level, read.only) == ("b", ("1", "2"))


def test_an_address_keeps_choices_except_the_changed_ones():
    choices = ComparisonChoices(level="system", evaluator="3")
    assert choices.address(evaluator="4", question="a") == "?level=system&evaluator=4&question=a"


@given(level=texts, language=texts, only=st.lists(texts).map(tuple))
def test_choices_survive_a_round_trip_through_the_address(level, language, only):
    choices = ComparisonChoices(level=level, language=language, only=only)
    assert ComparisonChoices.read(QueryDict(choices.address()[1:])) == choices
