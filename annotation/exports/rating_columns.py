"""The columns of ratings in long form, which exports write and imports read. No Django."""

RATING_COLUMNS = (
    "article_id",
    "system",
    "rater",
    "question",
    "value",
    "comment",
    "revision",
    "is_current",
    "after_reveal",
    "answered_at",
    "rated_at",
    "started_at",
    "stage",
    "stage_opened_at",
    "stage_submitted_at",
    "stage_seconds",
    "is_imported",
    "group",
    "rater_status",
    "language",
    "dataset",
    "split",
    "title",
    "is_reference",
)
"""Names of all columns but the texts, in their order. Missing values are empty, or null in JSON.

`revision` counts from 1. The last one `is_current`, unless a re-opened rating ended before its question.
`answered_at` belongs to the revision, `rated_at` and `started_at` to the rating. Imported ratings have no
stage times. `is_imported` says whether the rating was made elsewhere. Times are in UTC, ISO 8601.
"""

TEXT_COLUMNS = ("summary", "article")
"""Names of the columns with texts, which an export may leave out."""
