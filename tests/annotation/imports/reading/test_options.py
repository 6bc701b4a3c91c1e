from pathlib import Path

import pytest

from annotation.declared.settings import SettingsRefused, read_settings, settings_as_json, settings_of
from annotation.imports.formats import IMPORTERS
from annotation.imports.reading.importer import UnknownFormat, importer_class
from tests.declarations import declaration_problems


@pytest.mark.parametrize("name", IMPORTERS)
def test_every_format_has_a_complete_declaration(name):
    found = importer_class(name)
    assert found.name == name
    assert found.title
    assert found.purpose
    assert len(found.purpose) <= 48  # one line in the list of formats
    assert found.description
    defaults = read_settings(found.Options, {}, of=name)
    assert read_settings(found.Options, settings_as_json(defaults), of=name) == defaults
    for option in settings_of(found.Options):
        assert declaration_problems(option) == []


def test_one_option_means_the_same_in_all_formats():
    """The formats share the command's flags."""
    declared = {}
    for option in (option for name in IMPORTERS for option in settings_of(importer_class(name).Options)):
        assert declared.setdefault(option.name, option) == option


@pytest.mark.parametrize("text", ["a\x00", "a\udcff"])  # the second from a byte of the command line
def test_options_that_databases_cannot_store_are_refused(text):
    form = importer_class("examples").Options
    for given in ({"map": [f"system=={text}"]}, {"rater": text}):
        with pytest.raises(SettingsRefused, match=r"found 'a|found 'system==a"):
            read_settings(form, given, of="examples")


def test_an_unknown_format_is_refused_with_suggestions():
    with pytest.raises(UnknownFormat, match="did you mean seahorse"):
        importer_class("seehorse")
    with pytest.raises(UnknownFormat, match="there are examples, seahorse"):
        importer_class("xyz")


@pytest.mark.parametrize("name", IMPORTERS)
def test_every_format_and_option_is_documented(name):
    guide = (Path(__file__).resolve().parents[4] / "docs/importing.md").read_text()
    assert f"\n## {name}\n" in guide
    found = importer_class(name)
    for option in settings_of(found.Options):
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
def test_option_texts_that_cannot_be_stored_are_refused(format_name, options):
    with pytest.raises(SettingsRefused) as refusal:
        read_settings(importer_class(format_name).Options, options, of=format_name)
    assert list(refusal.value.fields) == list(options)
