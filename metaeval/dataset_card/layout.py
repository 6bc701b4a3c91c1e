"""The layout of an exported dataset: its files and the types of its columns."""

from annotation.exports.filters import RatingFilters
from annotation.models import Project
from annotation.protocol import Question, ScaleKind

NO_SPLIT = "all"
"""The split of articles that are in none."""
TYPES = {ScaleKind.NOMINAL: "string", ScaleKind.ORDINAL: "int64", ScaleKind.INTERVAL: "float64"}

Feature = dict[str, object]


def splits_of(project: Project, filters: RatingFilters) -> list[str]:
    """Return the splits of the chosen ratings, an empty text for none."""
    found = filters.ratings(project).order_by().values_list("summary__article__split", flat=True)
    return sorted(found.distinct())


def split_name(split: str) -> str:
    return split or NO_SPLIT


def data_file(split: str) -> str:
    """Return the path of a split's file in the dataset."""
    return f"data/{split_name(split)}.jsonl"


def features(questions: tuple[Question, ...], *, articles: bool, comments: bool) -> list[Feature]:
    """Return the columns with their types, as the header of a card has them."""
    found: list[Feature] = [
        *(_text(name) for name in ("article_id", "language", "dataset", "split", "system")),
        {"name": "is_reference", "dtype": "bool"},
        *(_text(name) for name in ("summary", "rater", "group")),
        {"name": "is_imported", "dtype": "bool"},
        _text("rated_at"),
        {
            "name": "answers",
            "struct": [{"name": each.key, "dtype": TYPES[each.scale.kind]} for each in questions],
        },
    ]
    if comments:
        found.append({"name": "comments", "struct": [_text(each.key) for each in questions]})
    return [*found, _text("article")] if articles else found


def _text(name: str) -> Feature:
    return {"name": name, "dtype": "string"}
