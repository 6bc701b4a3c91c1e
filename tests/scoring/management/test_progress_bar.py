import io

import pytest

from scoring.management import progress_bar
from scoring.management.progress_bar import ProgressBar


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_output_to_a_file_has_plain_lines_now_and_then():
    stream = io.StringIO()
    with ProgressBar(stream) as bar:
        for done in range(0, 1001, 100):
            bar("checking", done, 1000)
        bar("storing", 0, 1000)
    assert stream.getvalue().splitlines() == [
        "checking: 0 of 1,000 rows",
        "checking: 1,000 of 1,000 rows",
        "storing: 0 of 1,000 rows",
    ]


def test_next_line_follows_after_a_while(monkeypatch):
    monkeypatch.setattr(progress_bar, "LINE_EVERY_S", 0.0)
    stream = io.StringIO()
    with ProgressBar(stream, unit="summaries") as bar:
        bar("scoring", 1, 10)
        bar("scoring", 2, 10)
    assert stream.getvalue().splitlines() == ["scoring: 1 of 10 summaries", "scoring: 2 of 10 summaries"]


@pytest.mark.parametrize("steps", [["checking"], ["checking", "storing"]])
def test_terminal_shows_a_bar_for_each_step(steps):
    stream = Terminal()
    with ProgressBar(stream) as bar:
        for step in steps:
            bar(step, 0, 10)
            bar(step, 10, 10)
    for step in steps:
        assert f"{step}: 100%" in stream.getvalue()
