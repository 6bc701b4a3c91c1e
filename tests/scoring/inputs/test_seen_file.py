"""Files that name seen articles by text, digest or id."""

import json

import pytest

from annotation.texts.text_digests import text_digest
from scoring.errors import InvalidTraining
from scoring.inputs.seen_file import read_seen
from tests.factories import make_article, make_project

pytestmark = pytest.mark.django_db


def test_articles_are_named_by_text_digest_or_id():
    project = make_project()
    make_article(project, external_id="a1", text="Of the project.")
    rows = [
        {"article": "One."},
        {"text_digest": text_digest("Two"), "split": "validation"},
        {"article_id": "a1"},
    ]
    unseen = {"article": "Not seen.", "split": "test"}
    lines = [*map(json.dumps, [*rows, unseen]), "", "a1", text_digest("Three").upper()]
    assert read_seen(lines, project) == {
        "train": tuple(sorted(map(text_digest, ("one", "Of the project", "three")))),
        "validation": (text_digest("two"),),
    }


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            "unknown",
            "line 2: found 'unknown', expected a digest, or the id of an article with text in the project",
        ),
        ("bare", "line 2: found 'bare', expected a digest, or the id of an article with text"),
        ('{"article": ', "line 2: Expecting value"),
        ('{"article": ' + "[" * 90_000, "line 2: JSON nested too deeply"),
        ('{"summary": "s"}', "line 2: found no article, expected one of the fields article, text_digest"),
        ('{"article": "a", "split": "dev"}', "line 2: split: found 'dev', expected one of train, validation"),
        ('{"text_digest": "12"}', "line 2: text_digest: found '12', expected a text or 64 hex digits"),
        ('{"article": "\\u200b"}', "line 2: article: found"),
    ],
)
def test_wrong_lines_are_named(line, words):
    project = make_project()
    make_article(project, external_id="bare", text="")
    with pytest.raises(InvalidTraining, match="seen: ") as refused:
        read_seen([json.dumps({"article": "One."}), line], project)
    assert words in str(refused.value)


def test_a_file_without_articles_and_an_id_without_a_project_are_refused():
    with pytest.raises(InvalidTraining, match="names no article"):
        read_seen(["", '{"article": "One.", "split": "test"}'], None)
    with pytest.raises(InvalidTraining, match="line 1: found 'a1', expected a digest, or a project"):
        read_seen(["a1"], None)
