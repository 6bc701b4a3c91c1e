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
    ("rated_at", "fine"), [("yesterday", False), ("2024-13-01", False), ("2024-05-17", True)]
)
def test_times_must_be_iso_8601(tmp_path, rated_at, fine):
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
