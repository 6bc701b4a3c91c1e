import gzip
import json

import pytest

from annotation.imports.import_file import import_file
from annotation.imports.reading.importer import open_import
from annotation.protocol import SUMMEVAL
from tests.annotation.exports.exporting_steps import exported, json_rows, rate
from tests.factories import make_article, make_project, make_rater, make_summary, make_system

pytestmark = pytest.mark.django_db

GOOD = {question.key: "4" for question in SUMMEVAL.questions}


def test_released_lines_come_out_as_they_went_in(shared, tmp_path):
    """Without the path of the article's file, which is not stored."""
    source = shared / "data" / "summeval" / "model_annotations.aligned.paired.12systems.jsonl.gz"
    with gzip.open(source, "rt", encoding="utf-8") as file:
        released = [json.loads(line) for line, _ in zip(file, range(40), strict=False)]
    path = tmp_path / "released.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in released), encoding="utf-8")
    project = make_project(SUMMEVAL)
    import_file(project, open_import("summeval", path))
    for row in released:
        del row["filepath"]
    assert sorted(map(str, json_rows(project, "summeval"))) == sorted(
        str({name: row[name] for name in json_rows(project, "summeval")[0]}) for row in released
    )


def test_raters_are_in_the_order_of_their_numbers_and_the_crowd_is_apart():
    project = make_project(SUMMEVAL)
    article = make_article(project)
    summary = make_summary(project, article=article)
    make_summary(project, article=article, system=make_system(project, "unrated"))
    reference = make_system(project, "reference-1", is_reference=True)
    make_summary(project, article=article, system=reference, text="By people.", ratings_wanted=0)
    for name, group, value in (("r-10", "", "5"), ("r-2", "", "1"), ("w", "crowd", "3")):
        rater = make_rater(project, user=None, pseudonym=name, group=group)
        rate(summary, rater, **GOOD | {"fluency": value})
    (line,) = [json.loads(line) for line in exported(project, "summeval").splitlines()]
    assert [each["fluency"] for each in line["expert_annotations"]] == [1, 5]
    assert [each["fluency"] for each in line["turker_annotations"]] == [3]
    assert line["references"] == ["By people."]
    assert line["text"] == article.text
