"""Krippendorff's alpha and its bootstrap beside the packages krippendorff and nltk, in one run.

    .venv/bin/python benchmarks/agreement.py [--summaries 96645] [--resamples 1000] [--their-resamples 20]

Made-up answers with the design of SEAHORSE: 96,645 summaries, most rated once, 8,920 by two or three of 60
raters, answers yes, no or unsure. Prints medians, ratios, and the largest difference of the results: alpha of
the whole, alpha of the same resamples (theirs by repeating rows, one call each), and the time of all figures
of the agreement page, six questions in six languages and all together, with 1,000-fold intervals and with
always-valid ones.

The packages' bootstrap is timed on `--their-resamples` resamples and reported for 1,000; krippendorff gets
only the summaries that have two ratings, which is all that alpha needs; once as ratings (3 x summaries), and
once as counts of values, its fastest input.
"""

import argparse
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import krippendorff
import numpy as np
from nltk.metrics.agreement import AnnotationTask

from annotation import protocol
from metaeval.agreement import intervals
from metaeval.agreement.method import ALWAYS_VALID, ARTICLES, AgreementMethod
from metaeval.agreement.ratings_per_unit import ratings_per_unit
from metaeval.agreement.statistics import agreements
from metaeval.snapshot.arrays import ALL, HumanRatings, QuestionRatings, Summaries
from metaeval.stats.agreement.agreement_bootstrap import replicates, unit_draws
from metaeval.stats.agreement.krippendorff import ALPHA, krippendorff_alpha
from metaeval.stats.agreement.unit_patterns import unit_patterns
from metaeval.stats.arrays import Floats, Ints
from metaeval.stats.uncertainty.percentile_interval import percentile_interval

ANSWERS = 3
LANGUAGES = ("de", "en", "es", "ru", "tr", "vi")
RATED_AGAIN = 8_920 / 96_645
RATED_THREE_TIMES = 0.04
REPEATS = 5


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--summaries", type=int, default=96_645)
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--their-resamples", type=int, default=20)
    options = parser.parse_args()
    summaries, units, raters, questions = made_up(options.summaries)
    compare_alpha(units, raters, questions[0], options.summaries)
    compare_bootstrap(units, questions[0], options.resamples, options.their_resamples)
    time_report(summaries, units, raters, questions, options.resamples)


def made_up(n_summaries: int) -> tuple[Summaries, Ints, Ints, list[Ints]]:
    """Return summaries, the summary and rater of each rating, and answers to six questions."""
    chance = np.random.default_rng(20230217)
    again = chance.choice(n_summaries, int(RATED_AGAIN * n_summaries), replace=False)
    third = again[: int(RATED_THREE_TIMES * len(again))]
    units = np.concatenate([np.arange(n_summaries), again, third])
    turns = np.repeat([0, 1, 2], [n_summaries, len(again), len(third)])
    languages = chance.integers(0, len(LANGUAGES), n_summaries)
    raters = languages[units] * 10 + (units * 7 + turns * 3) % 10
    order = chance.permutation(len(units))
    questions = []
    for _ in protocol.SEAHORSE.questions:
        truth = chance.random(n_summaries) < 0.15
        differs = chance.random(len(units)) < 0.06
        answers = (truth[units] ^ differs).astype(np.int64)
        answers[chance.random(len(units)) < 0.01] = 2
        questions.append(answers[order])
    zeros = np.zeros(n_summaries, dtype=np.int64)
    summaries = Summaries(
        np.arange(n_summaries) // 6, zeros, languages, zeros, ("system",), LANGUAGES, ("made up",)
    )
    return summaries, units[order], raters[order], questions


def counts_of(units: Ints, answers: Ints, n_units: int) -> Ints:
    """Return how often each unit got each answer, (units, answers)."""
    return np.bincount(units * ANSWERS + answers, minlength=n_units * ANSWERS).reshape(n_units, ANSWERS)


def compare_alpha(units: Ints, raters: Ints, answers: Ints, n_summaries: int) -> None:
    matrix = np.full((60, n_summaries), np.nan)
    matrix[raters, units] = answers
    triples = [
        (str(rater), str(unit), int(answer))
        for rater, unit, answer in zip(raters.tolist(), units.tolist(), answers.tolist(), strict=True)
    ]

    def ours() -> float:
        return krippendorff_alpha(counts_of(units, answers, n_summaries), "nominal").value

    def theirs() -> float:
        return float(krippendorff.alpha(reliability_data=matrix, level_of_measurement="nominal"))

    def nltks() -> float:
        return float(AnnotationTask(data=triples).alpha())

    own, own_s = timed(ours)
    print(f"alpha, nominal, {n_summaries:,} summaries: {own:.12f}, {1e3 * own_s:.2f} ms")
    for name, compute in (("krippendorff", theirs), ("nltk", nltks)):
        value, seconds = timed(compute, 3)
        print(
            f"  {name}: {1e3 * seconds:,.0f} ms, {seconds / own_s:,.0f} times ours;"
            f" difference {abs(value - own):.1e}"
        )


def compare_bootstrap(units: Ints, answers: Ints, resamples: int, their_resamples: int) -> None:
    times = np.bincount(units)
    again = times[units] >= 2
    _, codes = np.unique(units[again], return_inverse=True)
    n_units, given = int(codes.max()) + 1, answers[again]
    table = counts_of(codes, given, n_units)
    numbers = np.arange(ANSWERS, dtype=np.float64)

    def ours() -> Floats:
        patterns = unit_patterns(codes, given, n_units=n_units, n_answers=ANSWERS).units
        return replicates([ALPHA], unit_draws(patterns, resamples, 0), "nominal", numbers)[0]

    values, own_s = timed(ours)
    low, high = percentile_interval(values)
    print(
        f"alpha with {resamples:,} resamples, {n_units:,} summaries rated twice or more:"
        f" {1e3 * own_s:.2f} ms, [{low:.4f}, {high:.4f}]"
    )
    patterns = unit_patterns(codes, given, n_units=n_units, n_answers=ANSWERS).units
    dense = np.zeros((len(patterns), ANSWERS), dtype=np.int64)
    dense[patterns.cells.units, patterns.cells.answers] = patterns.counts[:, 0]
    drawn = np.concatenate([block.times for block in unit_draws(patterns, resamples, 0)], axis=1)
    same = [
        krippendorff.alpha(
            value_counts=np.repeat(dense, drawn[:, at].astype(int), axis=0), level_of_measurement="nominal"
        )
        for at in range(their_resamples)
    ]
    difference = np.abs(np.array(same) - values[:their_resamples]).max()
    chance = np.random.default_rng(0)

    def loop() -> None:
        for _ in range(their_resamples):
            rows = chance.integers(0, n_units, n_units)
            krippendorff.alpha(value_counts=table[rows], level_of_measurement="nominal")

    matrix = np.full((3, n_units), np.nan)
    order = np.argsort(codes, kind="stable")
    turns = np.arange(len(codes)) - np.searchsorted(codes[order], codes[order])
    matrix[turns, codes[order]] = given[order]

    def loop_over_ratings() -> None:
        for _ in range(their_resamples):
            columns = chance.integers(0, n_units, n_units)
            krippendorff.alpha(reliability_data=matrix[:, columns], level_of_measurement="nominal")

    for name, each in (("ratings", loop_over_ratings), ("counts", loop)):
        _, seconds = timed(each, 3)
        whole = seconds / their_resamples * resamples
        print(
            f"  krippendorff in a loop, from {name}: {whole:,.1f} s for {resamples:,}"
            f" ({their_resamples} timed), {whole / own_s:,.0f} times ours"
        )
    print(f"  largest difference on equal draws {difference:.1e}")


def time_report(
    summaries: Summaries, units: Ints, raters: Ints, questions: list[Ints], resamples: int
) -> None:
    human = HumanRatings(
        tuple(
            QuestionRatings(question, question.scale.choices, units, raters, answers)
            for question, answers in zip(protocol.SEAHORSE.questions, questions, strict=True)
        ),
        ("",) * 60,
        "made up",
        "",
    )
    places = (ALL, *summaries.language_names)

    def figures(method: AgreementMethod) -> int:
        intervals._computed.cache_clear()
        found = 0
        for ratings in human.questions:
            twice = ratings_per_unit(summaries, human, ratings)
            for language in places:
                found += len(
                    agreements(twice.in_language(language), ratings, ("krippendorff_alpha",), method)
                )
        return found

    for interval in (ARTICLES, ALWAYS_VALID):
        count, seconds = timed(partial(figures, AgreementMethod(interval=interval, resamples=resamples)))
        print(
            f"{count} alphas with intervals ({interval}), from {len(units):,} ratings of 6 questions:"
            f" {1e3 * seconds:.0f} ms"
        )


Result = TypeVar("Result")


def timed(compute: Callable[[], Result], repeats: int = REPEATS) -> tuple[Result, float]:
    """Return the result, and the median seconds after one warm-up round.

    Of processor time: other work on the machine lengthens the wall clock's.
    """
    result = compute()
    seconds = []
    for _ in range(repeats):
        began = time.process_time()
        compute()
        seconds.append(time.process_time() - began)
    return result, median(seconds)


if __name__ == "__main__":
    main()
