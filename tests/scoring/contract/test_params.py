"""Names of setups, in the style of papers."""

import re
from dataclasses import dataclass
from types import MappingProxyType

import pytest

from annotation.declared.settings import (
    SettingsRefused,
    setting,
    settings_as_json,
    settings_of,
    value_as_text,
)
from scoring.contract.evaluator import Member
from scoring.contract.params import LONGEST_NAME, joined, params_in_words, read_params, with_defaults
from scoring.evaluators import load_evaluator


class Fancy:
    name = "fancy"

    @dataclass(frozen=True)
    class Params:
        model: str = setting(label="Model", help="The model.")
        size: int = setting(4, label="Size", help="How many.", low=1, high=8)
        share: float = setting(0.5, label="Share", help="How much.", low=0.0)
        kind: str = setting("1", label="Kind", help="Which.", choices={"1": "words", "Lsum": "sentences"})
        stem: bool = setting(False, label="Stemming", help="Whether.")
        names: tuple[str, ...] = setting((), label="Names", help="Whose.")
        code: str = setting("en", label="Code", help="Which.", pattern="[a-z]{2}", expected="two letters")
        pairs: tuple[str, ...] = setting((), label="Pairs", help="Which.", one_per_line=True)
        jurors: tuple[str, ...] = setting((), label="Jurors", help="Who.", is_setup=True)

        def __post_init__(self) -> None:
            if self.stem and self.kind == "Lsum":
                raise ValueError("parameter 'stem': found yes, expected no with kind=Lsum")


class Plain:
    name = "plain"

    @dataclass(frozen=True)
    class Params:
        pass


def test_reads_strings_from_the_command_line():
    given = {"model": " m ", "size": "8", "share": "0.25", "kind": "Lsum", "stem": "No", "names": "a, b,,c"}
    assert read_params(Fancy, given) == Fancy.Params("m", 8, 0.25, "Lsum", False, ("a", "b", "c"))


def test_reads_json_values_and_adds_defaults():
    given = {"model": "m", "share": 1, "kind": 1, "stem": True, "names": ["a"]}
    assert read_params(Fancy, given) == Fancy.Params("m", 4, 1.0, "1", True, ("a",))


def test_json_round_trip():
    params = Fancy.Params("m", 3, 0.1, "1", True, ("a", "b"))
    assert read_params(Fancy, settings_as_json(params)) == params


def test_text_round_trip():
    params = Fancy.Params("m", 3, 60.0, "1", True, ("a", "b"))
    texts = {name: value_as_text(value) for name, value in settings_as_json(params).items()}
    assert texts["share"] == "60"
    assert read_params(Fancy, texts) == params


def test_wrong_value_is_refused_with_the_expected_one(subtests):
    cases = [
        ("size", "four", "parameter 'size': found 'four', expected a whole number from 1 to 8"),
        ("size", "4.0", "parameter 'size': found '4.0', expected a whole number from 1 to 8"),
        ("size", 4.5, "parameter 'size': found 4.5, expected a whole number from 1 to 8"),
        ("size", True, "parameter 'size': found true, expected a whole number from 1 to 8"),
        ("size", 0, "parameter 'size': found 0, expected a whole number from 1 to 8"),
        ("size", 9, "parameter 'size': found 9, expected a whole number from 1 to 8"),
        ("share", "-0.1", "parameter 'share': found '-0.1', expected a number of at least 0.0"),
        ("share", "nan", "parameter 'share': found 'nan', expected a number of at least 0.0"),
        ("share", "inf", "parameter 'share': found 'inf', expected a number of at least 0.0"),
        ("share", None, "parameter 'share': found null, expected a number of at least 0.0"),
        ("share", True, "parameter 'share': found true, expected a number of at least 0.0"),
        ("kind", "L", "parameter 'kind': found 'L', expected one of 1, Lsum"),
        ("kind", None, "parameter 'kind': found null, expected one of 1, Lsum"),
        ("stem", "maybe", "parameter 'stem': found 'maybe', expected yes or no"),
        ("stem", 2, "parameter 'stem': found 2, expected yes or no"),
        ("names", 3, "parameter 'names': found 3, expected texts separated by commas"),
        ("names", ["a", 1], "parameter 'names': found [\"a\", 1], expected texts separated by commas"),
        ("code", "EN", "parameter 'code': found 'EN', expected two letters"),
        ("pairs", 3, "parameter 'pairs': found 3, expected texts, one per line"),
        ("model", ["m"], "parameter 'model': found [\"m\"], expected a text"),
    ]
    for name, found, message in cases:
        expected = pytest.raises(ValueError, match=f"^{re.escape(message)}$")
        with subtests.test(name=name, found=found), expected:
            read_params(Fancy, {"model": "m", name: found})


def test_unknown_name_is_refused_with_similar_names():
    with pytest.raises(
        ValueError, match="parameter 'modle': fancy has no such parameter; did you mean model"
    ):
        read_params(Fancy, {"modle": "m"})


def test_unknown_name_is_refused_with_all_names_if_none_is_similar():
    with pytest.raises(ValueError, match="it has model, size, share, kind, stem, names, code, pairs, jurors"):
        read_params(Fancy, {"xyzzy": "m"})


def test_evaluator_without_parameters_refuses_any():
    with pytest.raises(ValueError, match="parameter 'x': plain has no such parameter; it has none"):
        read_params(Plain, {"x": "1"})


def test_all_errors_are_reported_together():
    with pytest.raises(SettingsRefused) as refusal:
        read_params(Fancy, {"modle": "m", "size": 9})
    assert list(refusal.value.fields) == ["modle", "size", "model"]


def test_list_with_one_entry_per_line_may_contain_commas():
    assert read_params(Fancy, {"model": "m", "pairs": "a=b\n\nc==d, e"}).pairs == ("a=b", "c==d, e")


def test_semicolons_separate_setup_names_with_commas():
    assert read_params(Fancy, {"model": "m", "jurors": "a, b; c"}).jurors == ("a, b", "c")
    assert read_params(Fancy, {"model": "m", "jurors": "a, b"}).jurors == ("a", "b")


def test_stored_parameters_are_shown_in_words():
    shown = params_in_words(Fancy, {"gone": 5, "kind": "Lsum", "model": "m"})
    assert [(each.label, each.value) for each in shown] == [
        ("Model", "m"),
        ("Kind", "sentences"),
        ("gone", "5"),
    ]


def test_missing_required_parameter_is_described():
    with pytest.raises(ValueError, match=r"parameter 'model': fancy requires it\. The model\."):
        read_params(Fancy, {})


def test_invalid_combination_of_parameters_is_refused():
    with pytest.raises(ValueError, match="expected no with kind=Lsum"):
        read_params(Fancy, {"model": "m", "kind": "Lsum", "stem": "yes"})


def test_declarations_have_the_fields_that_forms_need():
    model, size, _, kind, *_ = settings_of(Fancy.Params)
    assert (model.required, model.default, model.type) == (True, None, "text")
    assert (size.required, size.default, size.low, size.high, size.help) == (False, 4, 1, 8, "How many.")
    assert kind.choices == {"1": "words", "Lsum": "sentences"}


def test_later_parameters_get_their_defaults():
    stored = {"model": "m", "size": 2, "gone": 5}
    later = {"share": 0.5, "kind": "1", "stem": False, "names": []}
    later |= {"code": "en", "pairs": [], "jurors": []}
    assert with_defaults(Fancy, stored) == {**stored, **later}
    assert with_defaults(Plain, {}) == {}


def test_inherited_parameters_come_last():
    @dataclass(frozen=True)
    class Base:
        model: str = setting(label="Model", help="The model.")
        precision: str = setting("float32", label="Precision", help="Of its numbers.")

    @dataclass(frozen=True)
    class Derived(Base):
        model: str = setting("m", label="Model", help="The model.")
        measure: str = setting("f1", label="Measure", help="Which.")

    assert [each.name for each in settings_of(Derived)] == ["model", "measure", "precision"]
    assert list(settings_as_json(Derived())) == ["model", "measure", "precision"]


ICE = MappingProxyType({"model": "openai/gpt-4o", "base_url": "https://api.openai.com/v1"})


@pytest.mark.parametrize(
    ("evaluator", "given", "name"),
    [
        ("rouge", {}, "ROUGE-L"),
        (
            "rouge",
            {"variant": "1", "stem": True, "references": "mean"},
            "ROUGE-1, mean over references, stemmed",
        ),
        ("bertscore", {}, "BERTScore F1, roberta-large layer 17"),
        (
            "bertscore",
            {"measure": "recall", "layer": 4, "idf": True, "against": "article"},
            "BERTScore recall, roberta-large layer 4, against the article, IDF-weighted",
        ),
        ("moverscore", {"idf": False, "n_gram": 2}, "MoverScore, 2-grams, no IDF weights"),
        ("similarity", {"model": "owner/multilingual@v2"}, "Embedding similarity, multilingual@v2"),
        ("blanc", {"form": "tune"}, "BLANC-tune"),
        ("ctc", {"aligner": "E"}, "CTC-E"),
        ("seahorse", {}, "SEAHORSE, attribution"),
        ("length", {"unit": "characters"}, "Length, in characters"),
        ("qa", {"prompt": "a" * 40 + "{context}"}, "QA (QAGS, FEQA), own question prompt"),
        ("ice", {**ICE, "api": "local_chat"}, "ICE, 4 examples, gpt-4o, local chat"),
        (
            "ice",
            {**ICE, "mode": "expected", "marks": "1-5", "examples": 1, "base_url": "http://localhost:1/v1"},
            "ICE, 1 example, gpt-4o, at localhost:1, expected value, scale 1 to 5",
        ),
    ],
)
def test_name_starts_with_the_headline_then_changed_parameters(evaluator, given, name):
    found = load_evaluator(evaluator)
    assert joined(found(read_params(found, given)).name_parts()) == name


def test_jury_name_lists_or_counts_its_jurors():
    found = load_evaluator("jury")
    for label, expected in (("ROUGE", "Jury of ROUGE-1 + ROUGE-2, median"), ("R" * 90, "Jury of 2, median")):
        jury = found(read_params(found, {"members": ["a", "b"], "how": "median"}))
        jury.use_members([Member("a", f"{label}-1", ("general",)), Member("b", f"{label}-2", ("general",))])
        assert joined(jury.name_parts()) == expected


def test_long_name_counts_its_last_parts():
    parts = ["Headline", "b" * 60, "c" * 60, "d"]
    assert joined(parts) == f"Headline, {'b' * 60}, 2 more settings"
    assert joined(parts[:2]) == f"Headline, {'b' * 60}"
    assert len(joined(["x" * 300])) == LONGEST_NAME
