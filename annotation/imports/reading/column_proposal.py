"""A proposal which columns of a table hold which of our fields, by their names and contents.

It is shown to people, who confirm or correct it. Ambiguous columns are not proposed.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Literal

from annotation.texts.language_codes import is_language_code

MOST_ROWS_READ = 50
LONG_TEXT = 3  # times the length of the next column's texts: an article beside summaries
TEXT = 30  # characters of a text, by the median; shorter ones are names and values
MOST_SYSTEMS = 0.5  # different values of `system` per row
SYNONYMS: dict[str, list[str]] = {
    ours: names.split()
    for ours, names in {
        "article_id": "article_id articleid doc_id docid document_id source_id text_id gem_id bbcid "
        "item_id id",
        "article": "article document doc source source_text src article_text full_text dialogue input text",
        "summary": "summary output generated generated_summary hypothesis hyp prediction response "
        "system_summary model_output sys_summ summary_text decoded",
        "system": "system model system_id model_id model_name system_name method model_type",
        "references": "references reference ref reference_summary ref_summ gold_summary target",
        "rater": "rater worker_id worker annotator annotator_id rater_id judge user",
        "question": "question dimension criterion aspect metric quality",
        "value": "value score rating answer label",
        "title": "title headline",
        "language": "language lang worker_lang language_code",
        "dataset": "dataset data_set corpus",
        "split": "split subset partition",
        "comment": "comment comments note explanation",
        "rated_at": "rated_at timestamp submitted_at date",
    }.items()
}
"""Field -> names of columns that hold it, better ones first."""


@dataclass(frozen=True)
class ColumnProposal:
    """The proposed column of each field, and of each system's summaries in a wide table."""

    columns: Mapping[str, str]
    systems: Mapping[str, str] = field(default_factory=dict)
    """System -> column, in a wide table."""

    @property
    def shape(self) -> Literal["wide", "long"]:
        """One row per article with a column for each system, or one row per summary or rating."""
        return "wide" if self.systems else "long"

    @property
    def pairs(self) -> list[str]:
        """Return the pairs for `read_mapping`, without those that say nothing new."""
        pairs = [f"{ours}={theirs}" for ours, theirs in self.columns.items() if ours != theirs]
        return pairs + [f"summary:{system}={column}" for system, column in self.systems.items()]


def propose_columns(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    fields: Sequence[str],
    *,
    may_be_wide: bool = False,
) -> ColumnProposal:
    """Return which columns seem to hold which of `fields`, judging by names and the first rows.

    A column is proposed for one field at most. A name counts more than the content. With `may_be_wide`
    several columns of summaries are proposed as the systems of a wide table.
    """
    cells = {name: [row[place].strip() for row in rows[:MOST_ROWS_READ]] for place, name in enumerate(header)}
    found = _by_name(header, fields)
    found = {ours: theirs for ours, theirs in found.items() if _can_hold(ours, cells[theirs])}
    named = found.get("article")
    if named not in (None, "article") and any(
        _length(each) > _length(cells[named]) for each in cells.values()
    ):
        del found["article"]  # its name may also be that of an id, a source or a summary
    if "article" in fields and "article" not in found:
        longest = _longest(cells, set(found.values()))
        if longest:
            found["article"] = longest
    free = [name for name in header if name and name not in found.values()]
    if "language" in fields and "language" not in found:
        codes = [name for name in free if _are_languages(cells[name])]
        if len(codes) == 1:
            found["language"] = codes[0]
            free.remove(codes[0])
    texts = [name for name in free if _are_texts(cells[name])]
    if "summary" in fields and "summary" not in found:
        if may_be_wide and len(texts) > 1 and "article" in found and "system" not in found:
            return ColumnProposal(_ordered(found, fields), {name: name for name in texts})
        if len(texts) == 1:
            found["summary"] = texts[0]
    if "system" in fields and "system" not in found:
        few = [name for name in free if name not in texts and _names_groups(cells[name])]
        if len(few) == 1 and len(rows) > 1:
            found["system"] = few[0]
    return ColumnProposal(_ordered(found, fields))


def known_field(name: str) -> str:
    """Return the field whose name or synonym a column has, the first such field; empty if there is none."""
    spelt = _spelling(name)
    return next((ours for ours, names in SYNONYMS.items() if spelt in names), "")


def _ordered(found: Mapping[str, str], fields: Sequence[str]) -> dict[str, str]:
    return {ours: found[ours] for ours in fields if ours in found}


def _by_name(header: Sequence[str], fields: Sequence[str]) -> dict[str, str]:
    """Return the column of each field with the best synonym. Two columns spelt alike are ambiguous."""
    spelt: dict[str, list[str]] = {}
    for name in header:
        spelt.setdefault(_spelling(name), []).append(name)
    found: dict[str, str] = {}
    for ours in fields:
        if ours in header:
            found[ours] = ours
            continue
        for synonym in SYNONYMS.get(ours, ()):
            if synonym in spelt:
                names = [name for name in spelt[synonym] if name not in fields]
                if len(names) == 1:
                    found[ours] = names[0]
                break
    return found


def _spelling(name: str) -> str:
    """Return a column's name as the synonyms are spelt: DocID and "Doc ID" are doc_id."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip())
    return re.sub(r"[^\w]+|_+", "_", apart).strip("_").casefold()


def _can_hold(ours: str, cells: Sequence[str]) -> bool:
    """Return whether a column's content contradicts its name in no way."""
    given = [each for each in cells if each]
    if ours == "language":
        return all(map(is_language_code, given))
    if ours in ("article", "references"):
        return not given or not all(map(_is_number, given))
    if ours in ("article_id", "system", "rater", "question", "value"):
        return _length(given) < 10 * TEXT
    return True


def _are_languages(cells: Sequence[str]) -> bool:
    """Return whether the cells are codes of several languages, such as de and pt-BR.

    One code alone may be a word, such as no, and one of three letters a system, such as gpt.
    """
    different = set(cells)
    return len(different) > 1 and all(
        is_language_code(each) and len(each.partition("-")[0]) == 2 for each in different
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _length(cells: Sequence[str]) -> float:
    """Return the median length of the texts that are given."""
    given = [len(each) for each in cells if each]
    return median(given) if given else 0


def _are_texts(cells: Sequence[str]) -> bool:
    """Return whether most cells that are given are texts: long, and no addresses, ids or digests."""
    given = [each for each in cells if each]
    written = [each for each in given if not each.isascii() or " " in each]
    return len(written) * 2 > len(given) and _length(cells) >= TEXT


def _longest(cells: Mapping[str, Sequence[str]], taken: set[str]) -> str:
    """Return the column with far longer texts than all others; empty if there is none."""
    by_length = sorted(cells, key=lambda name: _length(cells[name]), reverse=True)
    if not by_length or by_length[0] in taken or not by_length[0]:
        return ""
    longest = _length(cells[by_length[0]])
    following = _length(cells[by_length[1]]) if len(by_length) > 1 else 0
    return by_length[0] if longest >= TEXT and longest >= LONG_TEXT * max(following, TEXT) else ""


def _names_groups(cells: Sequence[str]) -> bool:
    """Return whether the cells are names, each of several rows."""
    different = set(cells)
    few = 1 < len(different) <= MOST_SYSTEMS * len(cells)
    return few and "" not in different and not any(map(_is_number, different))
