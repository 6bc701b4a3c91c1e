"""Ratings, labels and scores read from files into the arrays of a snapshot. No database."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from annotation import protocol
from annotation.imports.reading.importer import open_import
from annotation.imports.reading.proposal import MOST_QUESTIONS, Survey
from annotation.imports.reading.records import Entry, FileRefused, Problem, RatingRecord, Rejected
from annotation.imports.reading.sheets import value_on_scale
from annotation.imports.reading.wrong_rows import limited
from metaeval.snapshot.arrays import (
    HumanRatings,
    Labels,
    QuestionRatings,
    Scores,
    SetupScores,
    Summaries,
    answer_codes,
    answers_as_numbers,
    codes,
    read_only,
)
from metaeval.stats.arrays import Ints
from scoring.contract.evaluator import GENERAL
from scoring.contract.seen import EVERY_DIMENSION
from scoring.evaluators import EVALUATORS, load_evaluator
from scoring.files.examples import Example, read_examples

NOT_IN_THE_FILE = "not in the file of scores"
YES_NO = protocol.Scale(protocol.ScaleKind.NOMINAL, ("yes", "no"), {"yes": 1.0, "no": 0.0})


def read_ratings(
    path: Path, options: Mapping[str, object] | None = None, notes: list[str] | None = None
) -> tuple[Summaries, HumanRatings]:
    """Return the ratings of a CSV, TSV or JSONL file with one row per rater, summary and question.

    `options` are those of importing ratings, such as `map`, pairs ours=theirs and ours==constant, and
    `missing`, values that mean 'not answered' besides an empty one. Remarks, such as the number of answers
    left out, are added to `notes`. Scales are inferred from the answers:
    words make a nominal scale, whole numbers within a small range an ordinal one, other numbers an interval
    scale. Raises FileRefused with every invalid row, SettingsRefused for invalid `options`, and CannotPropose
    for answers that fit no scale.
    """
    languages: dict[str | None, str | None] = {}
    datasets: dict[str | None, str | None] = {}
    ratings: list[RatingRecord] = []
    importer = open_import("ratings", path, options=options or {})
    for entry in _whole(importer.entries()):
        if entry.article is not None and entry.article.language:
            languages.setdefault(entry.article.external_id, entry.article.language)
        if entry.article is not None and entry.article.dataset:
            datasets.setdefault(entry.article.external_id, entry.article.dataset)
        ratings += entry.ratings
    if notes is not None:
        notes += importer.notes
    survey = Survey()
    for rating in ratings:
        survey.add(rating.answers)
    if not survey.questions:
        raise FileRefused.because(path.name, 0, "file", "no answer", "ratings")
    named: list[tuple[str | None, str | None]] = list(
        dict.fromkeys((rating.article_id, rating.system) for rating in ratings)
    )
    raters = {rating.rater: rating.group or "" for rating in reversed(ratings)}
    human = HumanRatings(
        questions=tuple(
            _question_ratings(name, scale, ratings, named, list(raters))
            for name, scale in _scales(survey).items()
        ),
        rater_groups=tuple(raters.values()),
        described=f"the ratings in {path.name}",
        guideline="The wording of the questions is not known: the ratings come from a file.",
    )
    return _summaries(named, languages, datasets), human


def read_scored_examples(
    examples_path: Path, scores_paths: Sequence[Path], left_out: Counter[Path] | None = None
) -> tuple[Summaries, tuple[Labels, ...], tuple[SetupScores, ...]]:
    """Return the labels of an examples file, and the evaluators of each scores file.

    A file of one evaluator names it; a table has an evaluator for each metric.

    A dimension whose labels are all 0 or 1 becomes a yes/no question. Articles without a score because they
    were seen are seen articles of the evaluator. Rows of other summaries than the examples are counted in
    `left_out`, by scores file, or are invalid if it is None. Raises FileRefused with everything invalid,
    and FileRefused for a file without labels, a scores file or evaluator given twice, and one without scores
    on a labelled dimension.
    """
    examples = read_examples(examples_path)
    dimensions = list(dict.fromkeys(name for example in examples for name in example.labels))
    if not dimensions:
        raise FileRefused.because(examples_path.name, 0, "labels", "no label", "human labels to compare with")
    _check_number(examples_path, "labels", dimensions)
    languages = {example.item.article_id: example.item.language for example in examples}
    datasets = {example.item.article_id: example.dataset for example in examples}
    summaries = _summaries([(each.item.article_id, each.system) for each in examples], languages, datasets)
    for again in {path for path in scores_paths if list(scores_paths).count(path) > 1}:
        raise FileRefused.because(again.name, 0, "file", "given twice", "each evaluator's scores once")
    stems = [path.name.partition(".")[0] for path in scores_paths]
    evaluators: list[SetupScores] = []
    for path, stem in zip(scores_paths, stems, strict=True):
        label = stem if stems.count(stem) == 1 else str(path)
        found = _evaluators(path, label, examples, dimensions, summaries, left_out)
        for known in {each.label for each in evaluators} & {each.label for each in found}:
            raise FileRefused.because(path.name, 0, "scores", f"{known} again", "each evaluator in one file")
        for each in found:
            if not any(each.on(dimension) for dimension in dimensions):
                there, expected = ", ".join(each.scores), ", ".join([GENERAL, *dimensions])
                raise FileRefused.because(
                    path.name, 0, "scores", f"scores of {there}", f"of any of {expected}"
                )
        evaluators += found
    return summaries, tuple(_labels(name, examples, examples_path) for name in dimensions), tuple(evaluators)


def _whole(entries: Iterable[Entry | Rejected]) -> list[Entry]:
    """Return all entries. Raises FileRefused with every problem, up to MOST_PROBLEMS."""
    read = list(limited(entries, left_out=False))
    problems = [problem for each in read if isinstance(each, Rejected) for problem in each.problems]
    if problems:
        raise FileRefused(problems)
    return [each for each in read if isinstance(each, Entry)]


def _check_number(path: Path, field: str, dimensions: Sequence[str]) -> None:
    if len(dimensions) > MOST_QUESTIONS:
        found = f"{len(dimensions):,} dimensions"
        raise FileRefused.because(path.name, 0, field, found, f"at most {MOST_QUESTIONS}")


def _scales(survey: Survey) -> dict[str, protocol.Scale]:
    """Return each question's scale. If all answers are equal, agreement is undefined, not wrong."""
    scales = {}
    for name, seen in survey.questions.items():
        alone = Survey()
        alone.questions[name] = seen
        if len(seen.words) == 1 and not seen.numbers:
            (word,) = seen.words
            scales[name] = protocol.Scale(protocol.ScaleKind.NOMINAL, (word, f"not {word}"))
        elif len(seen.words) == 1 and not seen.too_large:
            scales[name] = protocol.Scale(protocol.ScaleKind.INTERVAL)
        else:
            scales[name] = alone.propose(interval=False).questions[0].scale
    return scales


def _question_ratings(
    name: str,
    scale: protocol.Scale,
    ratings: Sequence[RatingRecord],
    named: Sequence[object],
    raters: Sequence[str],
) -> QuestionRatings:
    answering = [rating for rating in ratings if name in rating.answers]
    found = [str(value_on_scale(scale, rating.answers[name].value)) for rating in answering]
    values, answers = answer_codes(scale, answers_as_numbers(scale, found))
    return QuestionRatings(
        question=protocol.Question(name, name, name, "", 1, scale),
        values=values,
        summaries=codes([(rating.article_id, rating.system) for rating in answering], named),
        raters=codes([rating.rater for rating in answering], raters),
        answers=answers,
    )


def _summaries(
    named: Sequence[tuple[str | None, str | None]],
    languages: Mapping[str | None, str | None],
    datasets: Mapping[str | None, str | None],
) -> Summaries:
    """Return the summaries of (article id, system) pairs; None or absent means unknown."""
    articles = [article for article, _ in named]
    systems = [system for _, system in named]
    spoken = [languages.get(article) for article in articles]
    sources = [datasets.get(article) for article in articles]
    return Summaries(
        articles=_codes_or_unknown(articles),
        systems=_codes_or_unknown(systems),
        languages=_codes_or_unknown(spoken),
        datasets=_codes_or_unknown(sources),
        system_names=_names(systems),
        language_names=_names(spoken),
        dataset_names=_names(sources),
    )


def _labels(dimension: str, examples: Sequence[Example], path: Path) -> Labels:
    values = np.array([example.labels.get(dimension, np.nan) for example in examples])
    yes_no = set(values[~np.isnan(values)].tolist()) <= {0.0, 1.0}
    return Labels(
        key=dimension,
        dimension=dimension,
        title=dimension,
        scale=YES_NO if yes_no else protocol.Scale(protocol.ScaleKind.INTERVAL),
        values=read_only(values),
        definition=f"Human label: as it stands in {path.name}.",
    )


def _evaluators(
    path: Path,
    label: str,
    examples: Sequence[Example],
    dimensions: Sequence[str],
    summaries: Summaries,
    left_out: Counter[Path] | None,
) -> list[SetupScores]:
    """Return the evaluators of a file: that of `label`, or of a table one for each of its metrics."""
    by_id = {example.item.id: place for place, example in enumerate(examples)}
    times = Counter((each.item.article_id, each.system) for each in examples)
    by_names = {
        names: place
        for place, each in enumerate(examples)
        if times[names := (each.item.article_id, each.system)] == 1
    }
    columns: dict[str, dict[str, dict[int, float | str]]] = {}
    lines: dict[int, int] = {}
    problems = []
    for entry in _whole(open_import("scores", path, dimensions=dimensions).entries()):
        if isinstance(entry.row, Mapping) and "id" in entry.row:
            field, identifier = "id", str(entry.row["id"])
            place = by_id.get(identifier)
        else:
            names = entry.scores[0].article_id, entry.scores[0].system
            field, identifier = "article_id", "/".join(names)
            place = by_names.get(names)
        if place is None and left_out is not None:
            left_out[path] += 1
            continue
        if place is None:
            expected = "an id of the examples (--only-known leaves others out)"
            problems.append(Problem(entry.file, entry.line, field, repr(identifier), expected))
            continue
        first = lines.setdefault(place, entry.line)
        if first != entry.line:
            expected = f"an id of its own: line {first} has this one"
            problems.append(Problem(entry.file, entry.line, field, repr(identifier), expected))
            continue
        for score in entry.scores:
            value = score.reason if score.value is None else score.value
            columns.setdefault(score.evaluator, {}).setdefault(score.dimension, {})[place] = value
    for of_evaluator in columns.values():
        _check_number(path, "scores", list(of_evaluator))
    if not columns:
        problems.append(Problem(path.name, 0, "scores", "no score", "scores of the examples"))
    if problems:
        raise FileRefused(problems)
    is_named_by_file = list(columns) == [path.name.partition(".")[0]]
    return [
        _evaluator(path, label if is_named_by_file else name, summaries, own) for name, own in columns.items()
    ]


def _evaluator(
    path: Path, label: str, summaries: Summaries, columns: Mapping[str, Mapping[int, float | str]]
) -> SetupScores:
    seen_reasons = {load_evaluator(name).seen_reason for name in EVALUATORS}
    seen = {
        EVERY_DIMENSION if dimension == GENERAL else dimension: frozenset(
            int(summaries.articles[place]) for place, value in column.items() if value in seen_reasons
        )
        - {-1}
        for dimension, column in columns.items()
    }
    return SetupScores(
        key=label,
        label=label,
        signature=str(path),
        fingerprint=None,
        higher_is_better=True,
        seen={dimension: those for dimension, those in seen.items() if those},
        scores={dimension: _scores(column, len(summaries)) for dimension, column in columns.items()},
    )


def _scores(column: Mapping[int, float | str], n_summaries: int) -> Scores:
    given = [column.get(place, NOT_IN_THE_FILE) for place in range(n_summaries)]
    reasons = sorted({each for each in given if isinstance(each, str)})
    values = [np.nan if isinstance(each, str) else each for each in given]
    why = codes([each if isinstance(each, str) else "" for each in given], ["", *reasons]) - 1
    return Scores(read_only(np.array(values, dtype=np.float64)), tuple(reasons), read_only(why))


def _names(values: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(sorted({value for value in values if value}))


def _codes_or_unknown(values: Sequence[str | None]) -> Ints:
    """Return the place of each value among the sorted names; -1 for none."""
    return read_only(codes([value or "" for value in values], ["", *_names(values)]) - 1)
