"""Parameters in which two versions of a judge differ."""

from scoring.judges.version_diff import Difference, differences


def test_only_changed_added_and_removed_parameters_are_listed():
    found = differences({"a": 1, "b": ["x", "y"], "old": True}, {"a": 1, "b": ["x"], "new": 0.5})
    assert [each[:3] for each in found] == [("b", "x,y", "x"), ("new", "", "0.5"), ("old", "yes", "")]
    assert isinstance(found[0], Difference)
    assert differences({"a": 1}, {"a": 1}) == []
