from pathlib import Path

import pytest

from annotation.importers import IMPORTERS
from annotation.importers.importer import UnknownFormat, importer_class
from annotation.importers.mapping import read_mapping
from annotation.importers.options import Option, OptionsRefused, read_options

DECLARED = (
    Option("flag", "", "", "flag", False),
    Option("names", "", "", "list", []),
    Option("map", "", "", "pairs", []),
    Option("kind", "", "", "choice", "a", ("a", "b")),
    Option("word", "", "", "text", "default"),
)
FIELDS = ("article_id", "system", "value")


def test_options_come_from_text_and_from_values_alike():
    assert read_options(DECLARED, {}) == {
        "flag": False,
        "names": [],
        "map": [],
        "kind": "a",
        "word": "default",
    }
    assert read_options(DECLARED, {"names": "x, y,,z", "map": "a=b\n\nc==d"}) == read_options(
        DECLARED, {"names": ["x", "y", "z"], "map": ["a=b", "c==d"]}
    )


@pytest.mark.parametrize(
    ("given", "field", "message"),
    [
        ({"flga": True}, "flga", "no such option"),
        ({"flag": "yes"}, "flag", "expected true or false"),
        ({"names": 3}, "names", "a list of texts"),
        ({"names": [1]}, "names", "a list of texts"),
        ({"kind": "c"}, "kind", "one of a, b"),
        ({"word": 1}, "word", "expected a text"),
    ],
)
def test_options_that_cannot_be_are_refused_by_name(given, field, message):
    with pytest.raises(OptionsRefused) as refusal:
        read_options(DECLARED, given)
    assert message in refusal.value.fields[field]


@pytest.mark.parametrize("name", IMPORTERS)
def test_every_format_is_declared_in_full(name):
    found = importer_class(name)
    assert found.name == name
    assert found.title
    assert found.description
    for option in found.options:
        assert option.label
        assert option.help.endswith(".")
        assert option.flag.startswith("--")
        assert read_options(found.options, {option.name: option.default})[option.name] == option.default


def test_one_option_means_the_same_in_all_formats():
    """They share the command's flags."""
    declared = {}
    for option in (option for name in IMPORTERS for option in importer_class(name).options):
        assert declared.setdefault(option.name, option) == option


def test_an_unknown_format_is_answered_with_the_near_ones():
    with pytest.raises(UnknownFormat, match="did you mean seahorse"):
        importer_class("seehorse")
    with pytest.raises(UnknownFormat, match="there are seahorse, summeval"):
        importer_class("xyz")


def test_a_mapping_names_columns_and_constants():
    mapped = read_mapping(["value=is_factual", "system==BERT"], FIELDS)
    row = {"article_id": "1", "is_factual": "yes", "system": "other"}
    assert mapped.of(row) == {"article_id": "1", "value": "yes", "system": "BERT"}
    assert mapped.theirs("value") == "is_factual"


def test_a_constant_may_hold_an_equals_sign():
    assert read_mapping(["system==a=b"], FIELDS).constants == {"system": "a=b"}


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        ("value", "expected ours=theirs"),
        ("value=", "expected ours=theirs"),
        ("valeu=x", "did you mean value"),
        ("zzz=x", "there are article_id, system, value"),
    ],
)
def test_a_mapping_that_cannot_be_is_refused(pair, message):
    with pytest.raises(ValueError, match=message):
        read_mapping([pair], FIELDS)


def test_a_field_mapped_twice_is_refused():
    with pytest.raises(ValueError, match="mapped already"):
        read_mapping(["value=a", "value=b"], FIELDS)


@pytest.mark.parametrize("name", IMPORTERS)
def test_every_format_and_option_is_documented(name):
    guide = (Path(__file__).resolve().parents[3] / "docs/importing.md").read_text()
    assert f"\n## {name}\n" in guide
    found = importer_class(name)
    for option in found.options:
        assert option.flag in guide
    if found.companion is not None:
        assert found.companion.flag in guide


@pytest.mark.parametrize(
    ("format_name", "options"),
    [
        ("examples", {"language": ""}),
        ("examples", {"language": "english"}),
        ("ratings", {"language": "DE"}),
        ("bartscore", {"rater": " "}),
        ("examples", {"rater": "r" * 81}),
    ],
)
def test_texts_that_could_not_be_stored_are_refused(format_name, options):
    with pytest.raises(OptionsRefused) as refusal:
        read_options(importer_class(format_name).options, options)
    assert list(refusal.value.fields) == list(options)
