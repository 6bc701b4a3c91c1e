"""What a reader has chosen, kept in the address."""

from django.http import QueryDict
from hypothesis import given
from hypothesis import strategies as st

from metaeval.choices import MetaevalChoices

texts = st.text(min_size=1).filter(lambda text: text.isprintable())


def test_an_address_without_choices_leaves_the_defaults():
    assert MetaevalChoices.read(QueryDict("")) == MetaevalChoices()
    assert MetaevalChoices.read(QueryDict("level=&revision=7&foreign=x")) == MetaevalChoices()
    assert MetaevalChoices().address() == "?"


def test_the_last_of_several_counts_and_lists_keep_all():
    read = MetaevalChoices.read(QueryDict("level=a&level=b&only=1&only=2"))
    assert (read.level, read.only) == ("b", ("1", "2"))


def test_an_address_keeps_what_was_chosen_and_changes_what_is_to_change():
    choices = MetaevalChoices(level="system", evaluator="3")
    assert choices.address(evaluator="4", question="a") == "?level=system&evaluator=4&question=a"


@given(level=texts, language=texts, only=st.lists(texts).map(tuple))
def test_an_address_is_read_back_as_the_same_choices(level, language, only):
    choices = MetaevalChoices(level=level, language=language, only=only)
    assert MetaevalChoices.read(QueryDict(choices.address()[1:])) == choices
