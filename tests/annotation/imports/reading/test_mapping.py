import pytest

from annotation.imports.reading.mapping import parts_of, read_mapping

FIELDS = ("article_id", "system", "value")


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
        ("value", "expected field=column"),
        ("value=", "expected field=column"),
        ("valeu=x", "did you mean value"),
        ("zzz=x", "there are article_id, system, value"),
    ],
)
def test_an_invalid_mapping_is_refused(pair, message):
    with pytest.raises(ValueError, match=message):
        read_mapping([pair], FIELDS)


def test_a_field_mapped_twice_is_refused():
    with pytest.raises(ValueError, match="mapped already"):
        read_mapping(["value=a", "value=b"], FIELDS)


def test_the_id_of_a_summary_is_joined_with_a_slash():
    assert read_mapping(["id=doc+sys"], ["id"]).of({"doc": "d", "sys": "s"}) == {"id": "d/s"}


def test_columns_are_joined_unless_one_has_that_name():
    mapped = read_mapping(["article_id=doc + page"], FIELDS)
    assert mapped.of({"doc": "d", "page": 7}) == {"article_id": "d-7"}
    assert mapped.of({"doc": "d", "page": 7, "doc + page": "x"}) == {"article_id": "x"}
    assert parts_of("doc + page", ["doc"]) == ["doc", "page"]


@pytest.mark.parametrize("row", [{"doc": "d"}, {"doc": "d", "page": None}, {"doc": "d", "page": ""}])
def test_a_key_with_an_empty_part_is_none(row):
    assert read_mapping(["article_id=doc+page"], FIELDS).of(row) == {}


def test_several_columns_hold_one_field_under_names():
    mapped = read_mapping(["value:a=x", "value:b=y"], FIELDS, several="value")
    assert mapped.of({"x": "1", "y": "2"}) == {"value:a": "1", "value:b": "2"}
    for pair in ("value:=x", "system:a=x"):
        with pytest.raises(ValueError, match="there is no field"):
            read_mapping([pair], FIELDS, several="value")
