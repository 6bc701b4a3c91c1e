import re
from dataclasses import dataclass

import pytest

from scoring.params import (
    declared_params,
    param,
    params_as_json,
    read_params,
    value_as_text,
    with_defaults,
)


class Fancy:
    name = "fancy"

    @dataclass(frozen=True)
    class Params:
        model: str = param(doc="The model.")
        size: int = param(4, low=1, high=8, doc="How many.")
        share: float = param(0.5, low=0.0, doc="How much.")
        kind: str = param("1", choices=("1", "Lsum"), doc="Which.")
        stem: bool = param(False, doc="Whether.")
        names: tuple[str, ...] = param((), doc="Whose.")

        def __post_init__(self) -> None:
            if self.stem and self.kind == "Lsum":
                raise ValueError("parameter 'stem': found yes, expected no with kind=Lsum")


class Plain:
    name = "plain"

    @dataclass(frozen=True)
    class Params:
        pass


def test_it_reads_strings_as_the_command_line_gives_them():
    given = {"model": " m ", "size": "8", "share": "0.25", "kind": "Lsum", "stem": "No", "names": "a, b,,c"}
    assert read_params(Fancy, given) == Fancy.Params("m", 8, 0.25, "Lsum", False, ("a", "b", "c"))


def test_it_reads_json_values_and_fills_in_defaults():
    given = {"model": "m", "share": 1, "kind": 1, "stem": True, "names": ["a"]}
    assert read_params(Fancy, given) == Fancy.Params("m", 4, 1.0, "1", True, ("a",))


def test_what_is_written_as_json_is_read_back_the_same():
    params = Fancy.Params("m", 3, 0.1, "1", True, ("a", "b"))
    assert read_params(Fancy, params_as_json(params)) == params


def test_what_is_written_as_text_is_read_back_the_same():
    params = Fancy.Params("m", 3, 60.0, "1", True, ("a", "b"))
    texts = {name: value_as_text(value) for name, value in params_as_json(params).items()}
    assert texts["share"] == "60"
    assert read_params(Fancy, texts) == params


@pytest.mark.parametrize(
    ("name", "found", "message"),
    [
        ("size", "four", "parameter 'size': found 'four', expected a whole number from 1 to 8"),
        ("size", "4.0", "parameter 'size': found '4.0', expected a whole number from 1 to 8"),
        ("size", 4.5, "parameter 'size': found 4.5, expected a whole number from 1 to 8"),
        ("size", True, "parameter 'size': found true, expected a whole number from 1 to 8"),
        ("size", 0, "parameter 'size': found 0, expected a whole number from 1 to 8"),
        ("size", 9, "parameter 'size': found 9, expected a whole number from 1 to 8"),
        ("share", "-0.1", "parameter 'share': found '-0.1', expected a number from 0.0 to any"),
        ("share", "nan", "parameter 'share': found 'nan', expected a number from 0.0 to any"),
        ("share", "inf", "parameter 'share': found 'inf', expected a number from 0.0 to any"),
        ("share", None, "parameter 'share': found null, expected a number from 0.0 to any"),
        ("share", True, "parameter 'share': found true, expected a number from 0.0 to any"),
        ("kind", "L", "parameter 'kind': found 'L', expected one of 1, Lsum"),
        ("kind", None, "parameter 'kind': found null, expected one of 1, Lsum"),
        ("stem", "maybe", "parameter 'stem': found 'maybe', expected yes or no"),
        ("stem", 2, "parameter 'stem': found 2, expected yes or no"),
        ("names", 3, "parameter 'names': found 3, expected texts separated by commas"),
        ("names", ["a", 1], "parameter 'names': found [\"a\", 1], expected texts separated by commas"),
        ("model", ["m"], "parameter 'model': found [\"m\"], expected a text"),
    ],
)
def test_it_refuses_a_wrong_value_and_says_what_it_expects(name, found, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        read_params(Fancy, {"model": "m", name: found})


def test_it_refuses_an_unknown_name_with_the_near_ones():
    with pytest.raises(ValueError, match="fancy has no parameter 'modle'; did you mean model\\?"):
        read_params(Fancy, {"modle": "m"})


def test_it_refuses_an_unknown_name_with_all_names_if_none_is_near():
    with pytest.raises(ValueError, match="it has model, size, share, kind, stem, names"):
        read_params(Fancy, {"xyzzy": "m"})


def test_it_says_that_an_evaluator_takes_no_parameters():
    with pytest.raises(ValueError, match="plain has no parameter 'x'; it takes none"):
        read_params(Plain, {"x": "1"})


def test_it_asks_for_a_required_parameter_by_its_meaning():
    with pytest.raises(ValueError, match=r"fancy needs the parameter 'model': The model\."):
        read_params(Fancy, {})


def test_rules_between_parameters_are_refused_too():
    with pytest.raises(ValueError, match="expected no with kind=Lsum"):
        read_params(Fancy, {"model": "m", "kind": "Lsum", "stem": "yes"})


def test_declarations_carry_what_a_form_needs():
    model, size, _, kind, *_ = declared_params(Fancy.Params)
    assert (model.required, model.default, model.type) == (True, None, "text")
    assert (size.required, size.default, size.low, size.high, size.doc) == (False, 4, 1, 8, "How many.")
    assert kind.choices == ("1", "Lsum")


def test_parameters_that_came_later_have_their_defaults():
    stored = {"model": "m", "size": 2, "gone": 5}
    later = {"share": 0.5, "kind": "1", "stem": False, "names": []}
    assert with_defaults(Fancy, stored) == {**stored, **later}
    assert with_defaults(Plain, {}) == {}


def test_what_is_inherited_comes_behind_a_class_s_own_parameters():
    @dataclass(frozen=True)
    class Base:
        model: str = param(doc="The model.")
        precision: str = param("float32", doc="Of its numbers.")

    @dataclass(frozen=True)
    class Derived(Base):
        model: str = param("m", doc="The model.")
        measure: str = param("f1", doc="Which.")

    assert [each.name for each in declared_params(Derived)] == ["model", "measure", "precision"]
    assert list(params_as_json(Derived())) == ["model", "measure", "precision"]
