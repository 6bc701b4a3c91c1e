"""Rows written as CSV, JSON, LaTeX, Markdown and text."""

import csv
import io
import json
import math

import pytest

from metaeval.agreement.statistics import STATISTICS
from metaeval.export.formats import FORMATS, written
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS


def make_row(evaluator="ROUGE-1", dimension="coherence", value=0.25, **fields):
    return {
        "evaluator": evaluator,
        "fingerprint": None,
        "dimension": dimension,
        "value": value,
        "low": None,
        "n": 12,
        "left_out": {},
        "definition": "Spearman's ρ.",
        **fields,
    }


def write(rows, format_name):
    return written(rows, format_name, down="evaluator", across=("dimension",), n="n")


UNDEFINED = make_row(
    dimension="fluency", value=None, reason="all scores equal", left_out={"articles seen by ICE": 4}
)


def test_csv_has_every_field_at_full_precision():
    read = list(csv.DictReader(io.StringIO(write([make_row(value=1 / 3), UNDEFINED], "csv"))))
    assert float(read[0]["value"]) == 1 / 3
    assert read[0]["low"] == read[0]["reason"] == ""
    assert read[1]["value"] == ""
    assert read[1]["reason"] == "all scores equal"
    assert read[1]["left_out"] == "articles seen by ICE: 4"


def test_csv_escapes_text_that_starts_like_a_formula(subtests):
    for name in ["=1+1", "+1", "-1+2", "@A1", "\t=1", "\r=1"]:
        with subtests.test(name=name):
            (read,) = csv.DictReader(io.StringIO(write([make_row(evaluator=name)], "csv"), newline=""))
            assert read["evaluator"] == f"'{name}"


def test_csv_does_not_escape_negative_numbers():
    (read,) = csv.DictReader(io.StringIO(write([make_row(value=-0.25)], "csv")))
    assert read["value"] == "-0.25"


def test_json_contains_the_rows():
    rows = [make_row(), UNDEFINED]
    assert json.loads(write(rows, "json")) == rows


def test_the_table_shows_values_n_reasons_and_definitions():
    text = write([make_row(), UNDEFINED, make_row("ICE"), make_row("ICE", "fluency", -0.5)], "table")
    lines = text.splitlines()
    assert lines[0].split() == ["coherence", "fluency"]
    assert lines[1].split() == ["ROUGE-1", "0.250", "(12)", "undefined", "(12)"]
    assert lines[2].split() == ["ICE", "0.250", "(12)", "-0.500", "(12)"]
    assert "undefined: all scores equal (ROUGE-1 fluency)" in lines
    assert "left out: articles seen by ICE: 4 (ROUGE-1 fluency)" in lines
    assert lines.count("Spearman's ρ.") == 1


def test_a_note_on_all_values_appears_once():
    rows = [make_row(name, left_out={"articles seen by ICE": 4}) for name in ("A", "B")]
    assert "left out: articles seen by ICE: 4 (all values)" in write(rows, "table").splitlines()


def test_setups_with_the_same_name_have_separate_lines():
    rows = [make_row(value=0.1, fingerprint="a"), make_row(value=0.2, fingerprint="b")]
    assert "0.100" in write(rows, "table")
    assert "0.200" in write(rows, "table")
    assert write(rows, "latex").count("ROUGE-1") == 2


def test_latex_escapes_special_characters():
    text = write(
        [make_row(r"100% & \input{x}_1", "main_ideas", -0.25), make_row("ρ", "other", None, reason="x")],
        "latex",
    )
    assert r"100\% \& \textbackslash{}input\{x\}\_1 & $-0.250$ & --" in text
    assert r"main\_ideas" in text
    assert r"$\rho$ & -- & undefined" in text


def test_latex_splits_wide_tables():
    names = [f"d{number}" for number in range(6)]
    text = write([make_row(dimension=name) for name in names], "latex")
    assert text.count(r"\begin{tabular}{lrrr}") == text.count(r"\end{tabular}") == 2
    first, second = text.split(r"\bigskip")
    assert r" & d0 & d1 & d2 \\" in first
    assert r" & d3 & d4 & d5 \\" in second
    assert first.count("ROUGE-1 &") == second.count("ROUGE-1 &") == 1
    narrow = write([make_row(dimension=name) for name in names[:4]], "latex")
    assert narrow.count(r"\begin{tabular}{lrrrr}") == 1


def test_latex_writes_the_names_of_all_statistics_for_pdflatex():
    """It knows Greek letters in formulas only."""
    for declared in (STATISTICS, COEFFICIENTS, LEVELS):
        for each in declared.values():
            (head, *_) = write([make_row(each.label)], "latex").split("% ")
            assert head.isascii(), each.label


def test_latex_writes_other_symbols_as_formulas():
    text = write([make_row("± ∞ ε · x")], "latex")
    assert r"$\pm$ $\infty$ $\varepsilon$ $\cdot$ x & $0.250$" in text


@pytest.mark.parametrize(
    ("format_name", "cells"),
    [
        ("latex", [r"x & 1,200 [900, $\infty$] \\", r"x & $-$3 \\", r"x & beyond \& above \\"]),
        ("markdown", [r"| x | 1,200 \[900, ∞\] |", "| x | -3 |", r"| x | beyond \& above |"]),
        ("table", ["x  1,200 [900, ∞] (12)", "x      -3 (12)", "x   beyond & above (12)"]),
    ],
)
def test_cells_may_be_whole_numbers_or_words(format_name, cells):
    rows = [
        make_row("x", value=1200, low=900.0, high=math.inf),
        make_row("x", value=-3),
        make_row("x", value=None, shown="beyond & above"),
    ]
    for row, cell in zip(rows, cells, strict=True):
        assert cell.replace(" ", "") in write([row], format_name).replace(" ", "")


@pytest.mark.parametrize("format_name", ["latex", "markdown", "table"])
def test_each_value_of_a_field_can_have_a_table_of_its_own(format_name):
    rows = [
        make_row("ICE", part="A & B", text="a remark"),
        make_row("ICE", "fluency", part="C", definition="Pearson's r."),
    ]
    options = {"down": "evaluator", "across": ("dimension",), "n": "n", "by": "part"}
    text = written(rows, format_name, **options)
    first, second = text.index("coherence"), text.index("fluency")
    assert text.index({"table": "A & B"}.get(format_name, r"A \& B")) < first < text.index("C ") < second
    notes = text[second:]
    assert [notes.count(each) for each in ("Spearman", "Pearson", "a remark (A")] == [1, 1, 1]
    if format_name == "latex":
        assert text.count(r"\begin{tabular}{lr}") == text.count(r"\end{tabular}") == 2


def test_evaluators_of_the_same_name_have_separate_columns():
    rows = [
        {**make_row(value=value, fingerprint=each), "system": system}
        for each, value in (("a", 0.1), ("b", 0.2))
        for system in ("x", "y")
    ]
    text = written(rows, "latex", down="system", across=("evaluator",), n="n")
    assert r" & ROUGE-1 & ROUGE-1 \\" in text
    assert r"x & $0.100$ & $0.200$ \\" in text


def test_every_format_accepts_no_rows(subtests):
    for format_name in FORMATS:
        with subtests.test(format_name=format_name):
            assert isinstance(write([], format_name), str)


class TestUncertainty:
    ROW = make_row(value=-0.4767, low=-0.44, high=0.52, cluster="ab", is_best=True)

    def test_latex_shows_interval_letters_and_bold(self):
        text = write([self.ROW], "latex")
        assert r"ROUGE-1 & \textbf{$-$0.477}$^{ab}$ [$-$0.44, 0.52] \\" in text

    def test_markdown_shows_interval_letters_and_bold(self):
        assert r"| ROUGE-1 | **-0.477**<sup>ab</sup> \[-0.44, 0.52\] |" in write([self.ROW], "markdown")

    def test_the_table_shows_interval_and_letters(self):
        assert write([self.ROW], "table").splitlines()[1].split() == [
            "ROUGE-1", "-0.477", "[-0.44,", "0.52]", "ab", "(12)",
        ]  # fmt: skip

    @pytest.mark.parametrize("format_name", ["latex", "markdown", "table"])
    def test_a_value_without_interval_and_letters_has_no_marks(self, format_name):
        text = write([make_row()], format_name)
        assert not any(mark in text for mark in ("[", "textbf", "**", "^", "<sup>"))


def test_columns_and_lines_use_the_given_titles():
    titles = {"main_ideas": "Main ideas & more", "ROUGE-1": "ROUGE 1"}
    options = {"down": "evaluator", "across": ("dimension",), "n": "n", "titles": titles}
    rows = [make_row(dimension="main_ideas")]
    assert r" & Main ideas \& more \\" in written(rows, "latex", **options)
    markdown = written(rows, "markdown", **options).splitlines()
    assert markdown[:3] == ["|  | Main ideas \\& more |", "| --- | ---: |", "| ROUGE 1 | 0.250 |"]


def test_markdown_escapes_special_characters():
    text = write([make_row("a|b\n# <script>*x*_y_[z](javascript:1)`")], "markdown")
    assert r"| a\|b \# \<script\>\*x\*\_y\_\[z\](javascript:1)\` | 0.250 |" in text


def test_latex_escapes_line_breaks_and_brackets():
    text = write([make_row("[2ex]\n% x")], "latex")
    assert r"{[}2ex{]} \% x & $0.250$ \\" in text


@pytest.mark.parametrize(("format_name", "mark"), [("latex", "% "), ("markdown", "- ")])
def test_tables_note_undefined_values_exclusions_and_definitions(format_name, mark):
    alone = make_row("ICE", interval_reason="fewer than two articles")
    lines = write([make_row(), UNDEFINED, alone], format_name).splitlines()
    notes = [line.removeprefix(mark) for line in lines if line.startswith(mark)]
    assert notes == [
        "undefined: all scores equal (ROUGE-1 fluency)",
        "left out: articles seen by ICE: 4 (ROUGE-1 fluency)",
        "no interval: fewer than two articles (ICE coherence)",
        "Spearman's ρ.",
    ]
