from csv import DictReader
from datetime import UTC, datetime

import pytest

from annotation.declared.settings import SettingsRefused
from annotation.imports.reading.records import FileRefused
from tests.import_files import jsonl, lines, read, refused, within_cpu_seconds

HEADER = "article_id,system,rater,question,value,comment"


def csv(tmp_path, *rows, header=HEADER, **options):
    return read("ratings", lines(tmp_path / "r.csv", header, *rows), **options)


def ratings(found):
    return {
        (r.article_id, r.system, r.rater): {name: answer.value for name, answer in r.answers.items()}
        for entry in found.entries
        for r in entry.ratings
    }


def test_rows_are_grouped_into_ratings(tmp_path):
    found = csv(tmp_path, "a,x,r1,fluency,4,", "a,x,r2,fluency,5,good", "a,x,r1,coherence,3,")
    assert ratings(found) == {
        ("a", "x", "r1"): {"fluency": "4", "coherence": "3"},
        ("a", "x", "r2"): {"fluency": "5"},
    }
    assert not found.problems


def test_answers_keep_their_line_comment_and_column(tmp_path):
    found = csv(tmp_path, "a,x,r1,fluency,4,", "a,x,r1,coherence,3,why", map=["value=value"])
    answer = next(entry.ratings[0] for entry in found.entries if entry.ratings).answers["coherence"]
    assert (answer.line, answer.comment, answer.field) == (3, "why", "value")


def test_jsonl_and_tsv_read_like_csv(tmp_path):
    row = {"article_id": "a", "system": "x", "rater": "r1", "question": "fluency", "value": 4}
    expected = {("a", "x", "r1"): {"fluency": "4"}}
    assert ratings(read("ratings", jsonl(tmp_path / "r.jsonl", row))) == expected
    tsv = lines(tmp_path / "r.tsv", HEADER.replace(",", "\t"), "a\tx\tr1\tfluency\t4\t")
    assert ratings(read("ratings", tsv)) == expected


def test_columns_are_mapped_and_constants_set(tmp_path):
    found = csv(
        tmp_path,
        "1,BERT,yes,wid_0",
        header="bbcid,system,is_factual,worker_id",
        map=["article_id=bbcid", "rater=worker_id", "value=is_factual", "question==factual"],
    )
    assert ratings(found) == {("1", "BERT", "wid_0"): {"factual": "yes"}}


def test_one_column_holds_two_fields(tmp_path):
    found = csv(
        tmp_path, "a,expert,fluency,4", header="article_id,rater,question,value", map=["system=rater"]
    )
    assert ratings(found) == {("a", "expert", "expert"): {"fluency": "4"}}


def test_each_row_has_the_article_that_it_names(tmp_path):
    found = csv(
        tmp_path,
        "a,x,r1,fluency,4,First,en",
        "a,y,r1,fluency,4,First,en",
        "a,x,r2,fluency,4,Other,en",
        "b,x,r1,fluency,4,Other,de",
        "b,y,r1,fluency,4,Other,no language",
        "b,x,r2,fluency,4,Other,no language",
        header="article_id,system,rater,question,value,title,language",
    )
    articles = [each.article for each in found.entries if each.article]
    assert [(each.external_id, each.title, each.language) for each in articles] == [
        ("a", "First", "en"),
        ("a", "First", "en"),
        ("a", "Other", "en"),
        ("b", "Other", "de"),
    ]
    assert found.where == [(6, "language"), (7, "language")]


def test_json_values_that_are_equal_are_not_taken_for_each_other(tmp_path):
    row = {"article_id": "a", "system": "x", "rater": "r1", "question": "fluency", "value": 4, "title": 1}
    found = read("ratings", jsonl(tmp_path / "r.jsonl", row, row | {"title": True}))
    assert found.where == [(2, "title")]


def test_problems_name_the_columns_of_the_file(tmp_path):
    found = csv(tmp_path, ",x,r1,fluency,4", header="doc,system,rater,question,value", map=["article_id=doc"])
    assert found.where == [(2, "doc")]


def test_missing_answers_are_left_out_and_counted(tmp_path):
    found = csv(tmp_path, "a,x,r1,fluency,NULL,", "a,x,r1,coherence,,", "a,x,r2,fluency,4,")
    assert ratings(found) == {("a", "x", "r2"): {"fluency": "4"}}
    assert found.notes == ["2 answers are missing (empty, NULL) and were skipped."]


def test_an_option_sets_the_words_for_missing_answers(tmp_path):
    found = csv(tmp_path, "a,x,r1,kind,NULL,", "a,x,r1,fluency,n/a,", missing="n/a")
    assert ratings(found) == {("a", "x", "r1"): {"kind": "NULL"}}


def test_the_same_answer_twice_counts_once(tmp_path):
    found = csv(tmp_path, "a,x,r1,fluency,4,", "a,x,r1,fluency,4,", "a,x,r1,fluency,4,")
    assert ratings(found) == {("a", "x", "r1"): {"fluency": "4"}}
    assert found.notes == ["2 rows repeat an answer and count once."]


def test_contradicting_answers_are_all_invalid(tmp_path):
    found = csv(
        tmp_path, "a,x,r1,fluency,4,", "a,x,r1,coherence,1,", "a,x,r1,fluency,5,", "a,x,r1,fluency,4,"
    )
    assert sorted(found.where) == [(2, "value"), (4, "value")]
    assert "line 4 has '5'" in found.problems[0].expected
    assert ratings(found) == {("a", "x", "r1"): {"coherence": "1"}}


def test_a_rating_with_only_contradicting_answers_is_dropped(tmp_path):
    found = csv(tmp_path, "a,x,r1,fluency,4,", "a,x,r1,fluency,5,")
    assert not ratings(found)
    assert len(found.problems) == 2


def test_different_comments_are_a_contradiction_too(tmp_path):
    found = csv(tmp_path, "a,x,r1,fluency,4,one", "a,x,r1,fluency,4,two")
    assert found.where == [(2, "value"), (3, "value")]


@pytest.mark.parametrize(
    ("repeated", "values", "left_out"),
    [
        (
            "first",
            {"fluency": "4", "coherence": "1"},
            "2 rows left out",
        ),
        ("last", {"fluency": "4", "coherence": "3"}, "3 rows left out"),
    ],
)
def test_the_first_or_the_last_answer_counts_and_the_others_are_counted(tmp_path, repeated, values, left_out):
    rows = ["fluency,4,", "coherence,1,", "fluency,4,", "fluency,5,", "fluency,4,", "coherence,3,"]
    found = csv(tmp_path, *(f"a,x,r1,{row}" for row in rows), repeated=repeated)
    assert ratings(found) == {("a", "x", "r1"): values}
    assert not found.problems
    assert any(note.startswith(left_out) and f"the {repeated} counts" in note for note in found.notes)


def test_the_last_answer_gives_the_rating_its_time(tmp_path):
    header = HEADER.replace("comment", "rated_at")
    rows = ["a,x,r1,fluency,4,2024-05-17", "a,x,r1,fluency,5,2024-05-19"]
    for repeated, day in (("first", 17), ("last", 19)):
        found = csv(tmp_path, *rows, header=header, repeated=repeated)
        (rating,) = (each for entry in found.entries for each in entry.ratings)
        assert rating.rated_at.day == day


def test_further_readings_become_raters(tmp_path):
    """The third reading agrees with the first. It is kept, else only disagreements could be compared."""
    rows = ["r1,fluency,4,", "r1,coherence,1,", "r1,fluency,5,", "r1,fluency,4,", "r2,fluency,5,"]
    found = csv(tmp_path, *(f"a,x,{row}" for row in rows), repeated="separate")
    assert ratings(found) == {
        ("a", "x", "r1"): {"fluency": "4", "coherence": "1"},
        ("a", "x", "r1 (reading 2)"): {"fluency": "5"},
        ("a", "x", "r1 (reading 3)"): {"fluency": "4"},
        ("a", "x", "r2"): {"fluency": "5"},
    }
    assert not found.problems
    assert found.notes[0].startswith("2 rows answered a question again.")


def test_a_reading_has_the_group_and_time_of_its_own_rows(tmp_path):
    header = "article_id,system,rater,question,value,group,rated_at"
    rows = ["a,x,r1,fluency,4,first,2024-05-17", "a,x,r1,fluency,5,second,2024-05-19"]
    found = csv(tmp_path, *rows, header=header, repeated="separate")
    rated = [each for entry in found.entries for each in entry.ratings]
    assert [(each.rater, each.group, each.rated_at.day) for each in rated] == [
        ("r1", "first", 17),
        ("r1 (reading 2)", "second", 19),
    ]


def test_a_reading_must_not_have_the_name_of_another_rater(tmp_path):
    rows = ["a,x,r1,fluency,4", "a,x,r1,fluency,5", "b,y,r1 (reading 2),fluency,5"]
    found = csv(
        tmp_path,
        *rows,
        header="article_id,system,who,question,value",
        map=["rater=who"],
        repeated="separate",
    )
    assert found.where == [(3, "who")]
    assert found.problems[0].expected == (
        "a rater whose reading 2 can be called 'r1 (reading 2)'; line 4 has another rater of that name"
    )


def test_the_name_of_a_reading_must_fit(tmp_path):
    rows = [f"a,x,{'r' * length},fluency,{value}," for length in (68, 69) for value in (4, 5)]
    found = csv(tmp_path, *rows, repeated="separate")
    assert found.where == [(5, "rater")]
    assert len(ratings(found)) == 3


@pytest.mark.parametrize("repeated", ["first", "last", "separate"])
def test_revisions_are_not_repeated_answers(tmp_path, repeated):
    header = "article_id,system,rater,question,value,revision"
    found = csv(
        tmp_path,
        "a,x,r1,fluency,4,1",
        "a,x,r1,fluency,5,2",
        "a,x,r1,fluency,3,3",
        header=header,
        repeated=repeated,
    )
    (rating,) = (each for entry in found.entries for each in entry.ratings)
    assert (rating.rater, rating.answers["fluency"].value) == ("r1", "3")
    assert [answer.value for _, answer in rating.details.earlier] == ["4", "5"]
    assert not found.notes


def test_an_unknown_way_to_treat_repeated_answers_is_refused(tmp_path):
    with pytest.raises(SettingsRefused, match="expected one of refuse, first, last, separate"):
        csv(tmp_path, "a,x,r1,fluency,4,", repeated="middle")


def test_optional_columns_give_texts_groups_and_times(tmp_path):
    header = "article_id,system,rater,question,value,summary,article,language,dataset,group,rated_at"
    found = csv(tmp_path, "a,x,r1,fluency,4,A ship.,Long.,de,mine,expert,2024-05-17T09:30:00", header=header)
    assert (found.entries[0].article.text, found.entries[0].article.language) == ("Long.", "de")
    assert found.entries[0].summaries[0].text == "A ship."
    rating = found.entries[1].ratings[0]
    assert (rating.group, rating.rated_at) == ("expert", datetime(2024, 5, 17, 9, 30, tzinfo=UTC))


def test_a_row_without_a_summary_column_has_no_text(tmp_path):
    assert csv(tmp_path, "a,x,r1,fluency,4,").entries[0].summaries[0].text is None


@pytest.mark.parametrize(
    ("row", "field"),
    [
        (",x,r1,fluency,4,", "article_id"),
        ("a,,r1,fluency,4,", "system"),
        ("a,x, ,fluency,4,", "rater"),
        ("a,x,r1,,4,", "question"),
        (f"a,x,{'r' * 81},fluency,4,", "rater"),
        (f"a,x,r1,{'q' * 61},4,", "question"),
        (f"a,x,r1,fluency,4,{'c' * 2001}", "comment"),
        ("a,x,r1,fluency,4", "line"),
        ('a,x,r1,fluency,"4,', "line"),
    ],
)
def test_an_invalid_row_is_reported_with_line_and_field(tmp_path, row, field):
    found = csv(tmp_path, "a,x,r1,fluency,4,", row, "a,x,r2,fluency,4,")
    assert found.where == [(3, field)]
    assert len(ratings(found)) == 2


@pytest.mark.parametrize(
    ("rated_at", "fine"),
    [
        ("yesterday", False),
        ("2024-13-01", False),
        ("2024-05-17", True),
        ("0001-01-01T00:00:00Z", True),
        ("0001-01-01T00:00:00+14:00", False),
        ("9999-12-31T23:59:59-14:00", False),
    ],
)
def test_times_must_be_iso_8601_and_in_the_years_1_to_9999_in_utc(tmp_path, rated_at, fine):
    found = csv(tmp_path, f"a,x,r1,fluency,4,{rated_at}", header=HEADER.replace("comment", "rated_at"))
    assert found.where == ([] if fine else [(2, "rated_at")])


def test_a_json_row_without_value_is_invalid_and_null_is_a_missing_answer(tmp_path):
    row = {"article_id": "a", "system": "x", "rater": "r1", "question": "fluency"}
    found = read("ratings", jsonl(tmp_path / "r.jsonl", row, row | {"value": None}, row | {"value": [1]}))
    assert found.where == [(1, "value"), (3, "value")]
    assert len(found.notes) == 1


def test_missing_columns_are_reported_by_their_mapped_names(tmp_path):
    path = lines(tmp_path / "r.csv", "article_id,system,rater,value", "a,x,r1,4")
    assert refused("ratings", path).field == "question"
    assert refused("ratings", path, map=["question=frage"]).field == "frage"
    assert refused("ratings", path, map=["question==fluency", "comment=note"]).field == "note"


def test_an_invalid_mapping_is_refused(tmp_path):
    with pytest.raises(SettingsRefused, match="did you mean question"):
        csv(tmp_path, "a,x,r1,fluency,4,", map=["qestion=x"])


def test_an_empty_file_is_refused(tmp_path):
    with pytest.raises(FileRefused):
        read("ratings", lines(tmp_path / "r.csv"))


def test_articles_from_a_second_file_are_joined(tmp_path):
    articles = jsonl(tmp_path / "a.jsonl", {"id": "a", "article": "Long.", "language": "tr"})
    path = lines(tmp_path / "r.csv", HEADER, "a,x,r1,fluency,4,")
    first = read("ratings", path, companion=articles).entries[0].article
    assert (first.text, first.language) == ("Long.", "tr")


XSUM = ["article_id=bbcid", "rater=worker_id"]


def test_the_real_factuality_file_is_read(shared):
    path = shared / "data/xsum_hallucination/factuality_annotations_xsum_summaries.csv"
    found = read("ratings", path, map=[*XSUM, "value=is_factual", "question==factual"])
    assert not found.problems
    assert len(ratings(found)) == 5597 - 33
    assert found.notes == ["33 answers are missing (empty, NULL) and were skipped."]


def test_contradictions_in_the_real_file_of_spans_are_reported(shared):
    path = shared / "data/xsum_hallucination/hallucination_annotations_xsum_summaries.csv"
    found = read(
        "ratings", path, map=[*XSUM, "value=hallucination_type", "question==hallucination"], missing=[]
    )
    assert len(ratings(found)) == 4634 + 913 + 777, "raters with one kind of span, from a count of the file"
    assert {problem.field for problem in found.problems} == {"hallucination_type"}


@pytest.mark.parametrize(("repeated", "answer"), [("first", 0), ("last", -1)])
def test_repeated_answers_in_the_real_file_of_spans(shared, repeated, answer):
    path = shared / "data/xsum_hallucination/hallucination_annotations_xsum_summaries.csv"
    given: dict[tuple[str, str, str], list[str]] = {}
    with path.open(newline="", encoding="utf-8") as file:
        for row in DictReader(file):
            key = row["bbcid"], row["system"], row["worker_id"]
            given.setdefault(key, []).append(row["hallucination_type"])
    options = {"map": [*XSUM, "value=hallucination_type", "question==hallucination"], "missing": []}
    found = read("ratings", path, repeated=repeated, **options)
    assert ratings(found) == {key: {"hallucination": kinds[answer]} for key, kinds in given.items()}
    assert not found.problems
    found = read("ratings", path, repeated="separate", **options)
    assert len(ratings(found)) == sum(map(len, given.values()))


@pytest.mark.parametrize("repeated", ["first", "last", "separate"])
def test_repeated_answers_are_read_in_linear_time(tmp_path, repeated):
    header = "article_id,system,rater,question,value"
    path = lines(tmp_path / "r.csv", header, *(f"a,s,r,q,{number}" for number in range(20_000)))
    with within_cpu_seconds(30):
        found = read("ratings", path, repeated=repeated)
    assert len(ratings(found)) == (20_000 if repeated == "separate" else 1)


def test_contradicting_answers_are_found_in_linear_time(tmp_path):
    header = "article_id,system,rater,question,value"
    path = lines(tmp_path / "r.csv", header, *(f"a,s,r,q,{number}" for number in range(20_000)))
    with within_cpu_seconds(30):
        found = read("ratings", path)
    assert len(found.problems) == 20_000
    assert (found.problems[0].found, found.problems[0].expected) == (
        "'0'",
        "one answer to q by r; line 3 has '1'",
    )
