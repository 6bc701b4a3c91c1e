import csv

import pytest

from tests.import_files import ALL_YES, SEAHORSE_HEADER, jsonl, lines, read, refused, seahorse_row


def read_row(tmp_path, row):
    return read("seahorse", lines(tmp_path / "t.tsv", SEAHORSE_HEADER, row))


@pytest.fixture
def excerpts(shared):
    return [
        shared / "data/seahorse" / name for name in ("validation_excerpt.tsv", "validation_excerpt_2.tsv")
    ]


def test_a_row_gives_an_article_a_summary_and_one_rating(tmp_path):
    (entry,) = read_row(
        tmp_path, seahorse_row("wiki_lingua_german_de-val-12", "Text.", "mt5_xxl", language="de")
    ).entries
    assert (entry.article.dataset, entry.article.split, entry.article.language) == (
        "wiki_lingua_german_de",
        "validation",
        "de",
    )
    (rating,) = entry.ratings
    assert (rating.rater, rating.group, rating.complete) == ("seahorse-1", "imported", True)
    assert [answer.value for answer in rating.answers.values()] == ["yes"] * 6
    assert not entry.summaries[0].is_reference


def test_the_reference_is_rated_like_any_other_system(tmp_path):
    (entry,) = read_row(tmp_path, seahorse_row(model="reference")).entries
    assert entry.summaries[0].is_reference
    assert entry.summaries[0].to_be_rated


@pytest.mark.parametrize(("found", "language"), [("es-ES", "es"), ("en-US", "en"), ("vi", "vi")])
def test_regions_are_dropped_from_languages(tmp_path, found, language):
    assert read_row(tmp_path, seahorse_row(language=found)).entries[0].article.language == language


def test_several_ratings_of_one_summary_go_to_numbered_raters(tmp_path):
    rows = [seahorse_row(), seahorse_row("xsum-validation-2"), seahorse_row(), seahorse_row()]
    found = read("seahorse", lines(tmp_path / "t.tsv", SEAHORSE_HEADER, *rows))
    assert [entry.ratings[0].rater for entry in found.entries] == [
        "seahorse-1",
        "seahorse-1",
        "seahorse-2",
        "seahorse-3",
    ]


@pytest.mark.parametrize(
    ("row", "field"),
    [
        (seahorse_row(gem_id=" "), "gem_id"),
        (seahorse_row(gem_id="x" * 201), "gem_id"),
        (seahorse_row(model=""), "model"),
        (seahorse_row(model="m" * 121), "model"),
        (seahorse_row(language=""), "worker_lang"),
        (seahorse_row(language="Deutsch"), "worker_lang"),
        (f"{seahorse_row()}\tmore", "line"),
        ("xsum-validation-1\ten-US", "line"),
    ],
)
def test_an_invalid_row_is_reported_with_line_and_field(tmp_path, row, field):
    rows = [seahorse_row(), row, seahorse_row("xsum-validation-2")]
    found = read("seahorse", lines(tmp_path / "t.tsv", SEAHORSE_HEADER, *rows))
    assert found.where == [(3, field)]
    assert len(found.entries) == 2


@pytest.mark.parametrize("column", SEAHORSE_HEADER.split("\t"))
def test_a_file_with_a_missing_column_is_refused(tmp_path, column):
    header = SEAHORSE_HEADER.replace(f"{column}\t", "").removesuffix(f"\t{column}")
    problem = refused("seahorse", lines(tmp_path / "t.tsv", header, "x"))
    assert (problem.line, problem.field) == (1, column)


def test_real_rows_are_read_unchanged(excerpts):
    first, second = (read("seahorse", path) for path in excerpts)
    assert (len(first.entries), len(second.entries)) == (56, 23)
    assert not first.problems
    assert not second.problems
    texts = {
        (entry.article.external_id, entry.summaries[0].system): entry.summaries[0].text
        for entry in (*first.entries, *second.entries)
    }
    assert sum(text == " " for text in texts.values()) == 1
    assert texts["mlsum_de-validation-3326", "finetuned"] == '": CSU-Chef Horst Seehofer zieht Bilanz.'
    markup = texts["wiki_lingua_turkish_tr-val-264", "reference"]
    assert '{"smallUrl":"https:\\/\\/www.wik' in markup
    assert '"Use Adobe Flash Player" (Adobe' in markup
    assert texts["xlsum_english-validation-7376", "reference"].endswith(
        'John Ruskin as a "priceless possession", is sold at auction in London for more than £200,000.'
    )
    assert texts["xlsum_english-validation-2441", "finetuned"].startswith('"I remember the first day')
    rated = {entry.article.external_id: entry.ratings[0] for entry in first.entries}
    assert {key: each.value for key, each in rated["xlsum_russian-validation-1258"].answers.items()} == {
        "comprehensibility": "yes",
        "repetition": "yes",
        "grammar": "yes",
        "attribution": "unsure",
        "main_ideas": "yes",
        "conciseness": "unsure",
    }
    assert list(rated["wiki_lingua_german_de-val-1589"].answers) == ["comprehensibility"]


def test_real_rows_read_the_same_under_both_quoting_conventions(excerpts, tmp_path):
    for path in excerpts:
        as_published = read("seahorse", path)
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file, delimiter="\t"))
        unquoted = lines(tmp_path / "unquoted.tsv", *("\t".join(row) for row in rows))
        again = read("seahorse", unquoted)
        assert [entry.summaries for entry in again.entries] == [
            entry.summaries for entry in as_published.entries
        ]
        assert as_published.notes != again.notes


def test_an_option_sets_the_quoting_convention(tmp_path):
    path = lines(tmp_path / "t.tsv", SEAHORSE_HEADER, seahorse_row(summary='"All of it."'))
    assert read("seahorse", path, quoting="csv").entries[0].summaries[0].text == "All of it."
    assert read("seahorse", path, quoting="none").entries[0].summaries[0].text == '"All of it."'


def test_articles_are_joined_by_id(tmp_path):
    ratings = lines(tmp_path / "t.tsv", SEAHORSE_HEADER, seahorse_row(), seahorse_row("xsum-validation-2"))
    articles = jsonl(
        tmp_path / "a.jsonl",
        {"id": "xsum-validation-9", "article": 3},
        {
            "article_id": "xsum-validation-1",
            "id": "x",
            "article": "Long.",
            "title": "T",
            "references": ["Short."],
        },
    )
    found = read("seahorse", ratings, companion=articles)
    assert not found.problems
    joined = found.entries[0]
    assert (joined.article.text, joined.article.title, joined.article.language) == ("Long.", "T", "en")
    assert (joined.article.dataset, joined.article.split) == ("xsum", "validation")
    assert [summary.system for summary in joined.summaries] == ["reference-1"]
    assert any("1 of 2 articles are not in a.jsonl" in note for note in found.notes)


@pytest.mark.parametrize("article", [None, "", "  ", 3])
def test_a_joined_article_needs_a_text(tmp_path, article):
    ratings = lines(tmp_path / "t.tsv", SEAHORSE_HEADER, seahorse_row())
    articles = jsonl(tmp_path / "a.jsonl", {"id": "xsum-validation-1", "article": article})
    found = read("seahorse", ratings, companion=articles)
    assert [(problem.file, problem.line, problem.field) for problem in found.problems] == [
        ("a.jsonl", 1, "article")
    ]


def test_answers_keep_their_columns_for_messages(tmp_path):
    (entry,) = read_row(tmp_path, seahorse_row(answers=ALL_YES.replace("Yes", "Maybe"))).entries
    assert [answer.field for answer in entry.ratings[0].answers.values()] == [
        f"question{number}" for number in range(1, 7)
    ]
