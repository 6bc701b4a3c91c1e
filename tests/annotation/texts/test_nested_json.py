import json

import pytest

from annotation.texts.nested_json import MOST_LEVELS, read_json


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}"), ('[{"a":', "}]")])
@pytest.mark.parametrize("levels", [MOST_LEVELS + 2, 900, 100_000])
def test_deep_nesting_is_refused(opening, closing, levels):
    with pytest.raises(ValueError, match="nested too deeply"):
        read_json(opening * levels + "1" + closing * levels)


def test_what_is_no_deeper_is_read():
    value = {"a": [1, "two", None, {"b": []}]}
    for _ in range(MOST_LEVELS - 5):
        value = [value]
    assert read_json(json.dumps(value)) == value
    assert read_json(b"[1]") == [1]


def test_what_is_no_json_is_refused():
    with pytest.raises(ValueError, match="Expecting"):
        read_json("{")
