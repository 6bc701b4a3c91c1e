"""The texts of each system: their length, and how much they take from the article.

These are the measures of SEAHORSE's Table 2 (Clark et al. 2023).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from weakref import WeakKeyDictionary

import numpy as np

from annotation.models import Project
from metaeval.card.summary_traits import read_items
from metaeval.live.background import LONG, SOON, Key, queue_of
from metaeval.snapshot.arrays import ALL, Scores, Summaries, codes, read_only
from metaeval.snapshot.snapshot import Snapshot
from metaeval.stats.arrays import Bools, Floats, Ints
from metaeval.stats.result import Result, or_none, reasons
from scoring.contract.evaluator import GENERAL, Evaluator
from scoring.contract.items import Item
from scoring.evaluators.copy_rate import CopyRate
from scoring.evaluators.length import Length
from scoring.evaluators.rouge import Rouge

NO_SUMMARY = "no summary has a value"
NO_TEXT = "no text"


@dataclass(frozen=True)
class TextMeasure:
    """A measure of a text, and the number in which it is summed up for a system."""

    title: str
    evaluator: Evaluator
    summed_up: Callable[[Floats], float]
    definition: str


MEASURES = {
    "length": TextMeasure(
        "Median length",
        Length(Length.Params(unit="characters")),
        lambda values: float(np.median(values)),
        "Median length of the summaries in characters, without white space at the ends.",
    ),
    "rouge": TextMeasure(
        "ROUGE-L with article",
        Rouge(Rouge.Params(variant="L", against="article", tokens="unicode")),
        lambda values: float(np.mean(values)),
        "Mean F1 of ROUGE-L between summary and article, over words in any script; SEAHORSE (Clark et al."
        " 2023) took SentencePiece tokens and gives percent.",
    ),
    "copied": TextMeasure(
        "20% copy",
        CopyRate(CopyRate.Params(share=0.2)),
        lambda values: float(np.mean(values)),
        "Share of summaries whose first 20% of characters, rounded up, stand at the start of the article,"
        " after runs of white space are replaced by one space.",
    ),
}
"""The measures by name."""


@dataclass(frozen=True)
class SystemTexts:
    """The measures of one system's summaries."""

    system: str
    n_summaries: int
    measured: Mapping[str, Result]
    """Results by the keys of MEASURES."""
    counted: Mapping[str, int]
    """Summaries with a value by the keys of MEASURES."""

    def as_json(self) -> list[dict[str, object]]:
        """Return a row for the number of summaries and for each measure."""
        told = "All summaries to rate or already rated."
        rows: list[dict[str, object]] = [
            {"what": "summaries", "value": self.n_summaries, "n": self.n_summaries}
            | {"left_out": {}, "definition": told}
        ]
        for name, result in self.measured.items():
            value = or_none(result.value)
            is_whole = name == "length" and value is not None and value.is_integer()
            rows.append(
                {
                    "what": name,
                    "value": int(result.value) if is_whole else value,
                    "n": self.counted[name],
                    "left_out": dict(result.left_out),
                    "definition": result.definition,
                    **reasons(result.reason, None),
                }
            )
        return [{"system": self.system, **row} for row in rows]


TEXT_TITLES = {"summaries": "Summaries", **{name: each.title for name, each in MEASURES.items()}}
"""The titles of the columns, by the `what` of rows."""


def texts_key(project: Project, revision: int) -> Key:
    """Return the key of the measures of all summaries."""
    return Key.of(project, revision, "texts")


def measured_texts(
    project: Project, snapshot: Snapshot, wait_s: float | None = SOON
) -> Mapping[str, Scores] | None:
    """Return the measures of all summaries by the keys of MEASURES; None if not ready after `wait_s` seconds.

    They are kept until a text changes, so that ratings do not begin them anew. With `wait_s` None the result
    is always there.
    """
    summaries = snapshot.summaries
    if summaries not in _kept:
        key = texts_key(project, snapshot.revision)
        queue = queue_of(key, LONG)
        # Texts are read only to begin: tens of megabytes in a large project.
        if wait_s is not None and queue.progress(key):
            return None
        places, items = read_items(project, snapshot, ALL)
        found = queue.result(key, partial(_measure_and_keep, summaries, places, items), wait_s)
        if found is None:
            return None
        _kept[summaries] = found
    return _kept[summaries]


_kept: WeakKeyDictionary[Summaries, Mapping[str, Scores]] = WeakKeyDictionary()


def _measure_and_keep(summaries: Summaries, places: Ints, items: Sequence[Item]) -> Mapping[str, Scores]:
    found = {
        name: _measured(each.evaluator, len(summaries), places, items) for name, each in MEASURES.items()
    }
    # Kept here too, because no page asks any more for the result of a revision that has passed.
    _kept[summaries] = found
    return found


def _measured(evaluator: Evaluator, n_summaries: int, places: Ints, items: Sequence[Item]) -> Scores:
    values, why = np.full(n_summaries, np.nan), [NO_TEXT] * n_summaries
    for place, scored in zip(places.tolist(), evaluator.score(items), strict=True):
        values[place], why[place] = scored.values[GENERAL], scored.reasons.get(GENERAL, "")
    names = sorted({reason for reason in why if reason})
    return Scores(read_only(values), tuple(names), read_only(codes(why, ["", *names]) - 1))


def system_texts(summaries: Summaries, measured: Mapping[str, Scores], chosen: Bools) -> list[SystemTexts]:
    """Return the measures of each system's `chosen` summaries, (summaries,), by name of the system."""
    found = []
    for code, system in enumerate(summaries.system_names):
        own = chosen & (summaries.systems == code)
        if own.any():
            results = {name: _summed_up(MEASURES[name], scores, own) for name, scores in measured.items()}
            counted = {
                name: int(np.count_nonzero(~np.isnan(scores.values[own])))
                for name, scores in measured.items()
            }
            found.append(SystemTexts(system, int(own.sum()), results, counted))
    return found


def _summed_up(measure: TextMeasure, scores: Scores, own: Bools) -> Result:
    values = scores.values[own & ~np.isnan(scores.values)]
    left_out = scores.reasons_among(own)
    if not len(values):
        return Result(value=np.nan, definition=measure.definition, left_out=left_out, reason=NO_SUMMARY)
    return Result(value=measure.summed_up(values), definition=measure.definition, left_out=left_out)
