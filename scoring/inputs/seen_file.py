"""Files that name the articles which a model has seen: by text, by text digest, or by id in a project."""

import re
from collections.abc import Iterable

from annotation.database.portions import portions
from annotation.models import Article, Project
from annotation.texts.nested_json import read_json
from annotation.texts.text_digests import text_digest
from scoring.errors import InvalidTraining
from scoring.inputs.items import CHUNK

DIGEST = re.compile(r"[0-9a-f]{64}")
MOST_PROBLEMS = 5
"""Wrong lines that the message names."""
SPLITS = ("train", "validation", "test")


class SeenFile:
    """Articles read from a file's lines: an id, a digest, or an object with a field that names the article.

    The fields are those of examples files: `article` with the text, or `text_digest`, or `article_id`; and
    `split`. Articles of the split test were not seen.
    """

    def __init__(self) -> None:
        self.roles: dict[str, str] = {}
        """Digest -> "train" or "validation"."""
        self.ids: dict[str, tuple[int, str]] = {}
        """Id of an article whose text is not in the file -> its line and role."""
        self.problems: list[str] = []

    def read(self, lines: Iterable[str]) -> None:
        for number, line in enumerate(lines, start=1):
            text = line.strip()
            try:
                if text.startswith("{"):
                    self._read_object(number, read_json(text))
                elif DIGEST.fullmatch(text.lower()):
                    self.roles.setdefault(text.lower(), SPLITS[0])
                elif text:
                    self.ids.setdefault(text, (number, SPLITS[0]))
            except ValueError as error:
                self.problems.append(f"line {number}: {error}")

    def _read_object(self, number: int, row: dict[str, object]) -> None:
        split = row.get("split") or SPLITS[0]
        if split not in SPLITS:
            raise ValueError(f"split: found {split!r}, expected one of {', '.join(SPLITS)}")
        named = {name: row[name] for name in ("article", "text_digest", "article_id") if row.get(name)}
        if not named:
            raise ValueError("found no article, expected one of the fields article, text_digest, article_id")
        name, value = next(iter(named.items()))
        digest = text_digest(value) if name == "article" and isinstance(value, str) else value
        if name != "article_id" and not (isinstance(digest, str) and DIGEST.fullmatch(digest)):
            raise ValueError(
                f"{name}: found {str(value)[:60]!r}, expected a text or 64 hex digits of its digest"
            )
        if split == "test":
            return
        if name == "article_id":
            self.ids.setdefault(str(value), (number, str(split)))
        else:
            self.roles.setdefault(str(digest), str(split))


def read_seen(lines: Iterable[str], project: Project | None) -> dict[str, tuple[str, ...]]:
    """Return "train" and "validation" -> the digests of the articles that a file names, sorted.

    Ids are those of `project`. Raises InvalidTraining, naming the lines, for ids that it does not have and
    for lines of another form; also for a file without an article.
    """
    file = SeenFile()
    try:
        file.read(lines)
    except UnicodeDecodeError as error:
        raise InvalidTraining("seen: the file is not text in UTF-8") from error
    digests = _digests(project, file.ids) if project else {}
    for article_id, (number, role) in file.ids.items():
        if digest := digests.get(article_id):
            file.roles.setdefault(digest, role)
        elif project is None:
            file.problems.append(
                f"line {number}: found {article_id[:60]!r}, expected a digest, or a project that has this id"
            )
        else:
            file.problems.append(
                f"line {number}: found {article_id[:60]!r}, expected a digest, or the id of an article with "
                "text in the project"
            )
    if file.problems:
        more = len(file.problems) - MOST_PROBLEMS
        told = [*file.problems[:MOST_PROBLEMS], *([f"and {more:,} more"] if more > 0 else [])]
        raise InvalidTraining(f"seen: {'; '.join(told)}")
    if not file.roles:
        raise InvalidTraining("seen: the file names no article")
    return {
        role: tuple(sorted(digest for digest, of in file.roles.items() if of == role))
        for role in sorted(set(file.roles.values()))
    }


def _digests(project: Project, ids: Iterable[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for some in portions(sorted(ids), CHUNK):
        articles = Article.objects.filter(project=project, external_id__in=some)
        found.update(articles.values_list("external_id", "text_digest"))
    return found
