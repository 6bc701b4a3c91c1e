"""How often scores that know nothing may replace a rater: `python benchmarks/alternative_annotator.py FILE`.

FILE is SummEval's individual ratings, one summary a line, gzipped: `id`, `model_id` and `expert_annotations`.
Against the three experts, the evaluator card's alternative annotator test is applied to random numbers,
random answers, a constant, and shuffled scores of an evaluator that knows the experts' mean (with noise of
half a point); that evaluator itself shows whether the test can still say yes. Prints for each question and
margin the share of draws that pass the test, that lead both trivial annotators, and that get each verdict.
`--times` draws, seeded. Exit code 1 if scores that know nothing get a 'yes', or lead both, in more than 5%.
"""

import argparse
import gzip
import json
import sys
from collections import Counter, defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from annotation import protocol
from metaeval.card.alternative_report import alternative_figures
from metaeval.card.verdicts import CANNOT_TELL, NO, NOT_SHOWN, YES
from metaeval.comparison.comparison import compare
from metaeval.snapshot.arrays import HumanRatings, QuestionRatings, Scores, SetupScores, Summaries
from metaeval.stats.arrays import Floats, Ints

DIMENSIONS = ("coherence", "consistency", "fluency", "relevance")
MOST = 0.05
POINTS = (1, 2, 3, 4, 5)
KNOWING = "knows the mean"
KINDS = ("random numbers", "random answers", "constant", "shuffled", KNOWING)
PASSES, LEADS = "passes", "leads both"
COLUMNS = (PASSES, LEADS, YES, CANNOT_TELL, NOT_SHOWN, NO)


def read(path: Path) -> tuple[Summaries, dict[str, Ints]]:
    """Return the summaries, and dimension -> the experts' answers, (summaries, 3)."""
    with gzip.open(path, "rt") as lines:
        rows = [json.loads(line) for line in lines]
    answers = {
        dimension: np.array([[each[dimension] for each in row["expert_annotations"]] for row in rows])
        for dimension in DIMENSIONS
    }
    articles, systems = (
        np.unique([row[name] for row in rows], return_inverse=True)[1] for name in ("id", "model_id")
    )
    none = np.zeros(len(rows), dtype=np.int64)
    names = tuple(sorted({row["model_id"] for row in rows}))
    return Summaries(articles, systems, none, none, names, ("en",), ("summeval",)), answers


def ratings_of(dimension: str, answers: Ints) -> tuple[HumanRatings, QuestionRatings]:
    """Return the answers, (summaries, raters), as ratings."""
    scale = protocol.Scale(protocol.ScaleKind.ORDINAL, low=1, high=5)
    summaries, raters = np.indices(answers.shape)
    ratings = QuestionRatings(
        question=protocol.Question(dimension, dimension, dimension, "", 1, scale),
        values=tuple(str(point) for point in POINTS),
        summaries=summaries.ravel(),
        raters=raters.ravel(),
        answers=answers.ravel() - 1,
    )
    return HumanRatings((ratings,), ("",) * answers.shape[1], "the experts' ratings", "SummEval."), ratings


def drawn_scores(kind: str, rng: np.random.Generator, experts: Floats) -> Floats:
    """Return the scores of an evaluator, (summaries,), given the mean of the experts."""
    n = len(experts)
    knowing = experts + rng.normal(0, 0.5, n)
    return {
        "random numbers": rng.normal(size=n),
        "random answers": rng.integers(1, 6, n).astype(float),
        "constant": np.full(n, float(rng.choice(POINTS))),
        "shuffled": rng.permutation(knowing),
        KNOWING: knowing,
    }[kind]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--times", type=int, default=200)
    given = parser.parse_args()
    summaries, answers = read(given.file)
    wrong = []
    print(f"{len(summaries):,} summaries, 3 experts, {given.times} draws; shares of draws")
    for dimension in DIMENSIONS:
        human, ratings = ratings_of(dimension, answers[dimension])
        print(f"\n{dimension}")
        print(f"  {'scores':18}{'ε':>6}" + "".join(f"{name:>13}" for name in COLUMNS))
        for kind in KINDS:
            counts: dict[float, Counter[str]] = defaultdict(Counter)
            for draw in range(given.times):
                scores = drawn_scores(kind, np.random.default_rng([draw, 7]), answers[dimension].mean(1))
                everywhere = np.full(len(scores), -1)
                setup = SetupScores(
                    kind, kind, "", None, True, frozenset(), {dimension: Scores(scores, (), everywhere)}
                )
                for each in alternative_figures(compare(summaries, [setup]), human, ratings, setup):
                    counts[each.epsilon][PASSES] += each.test.passes
                    counts[each.epsilon][LEADS] += all(one.is_beaten for _, one in each.trivial)
                    counts[each.epsilon][each.verdict] += 1
            for epsilon, found in counts.items():
                share = {name: found[name] / given.times for name in COLUMNS}
                print(f"  {kind:18}{epsilon:6}" + "".join(f"{value:13.3f}" for value in share.values()))
                if kind != KNOWING and max(share[YES], share[LEADS]) > MOST:
                    wrong.append(f"{kind} on {dimension} at ε {epsilon}: {share}")
    if wrong:
        raise SystemExit("; ".join(wrong))


if __name__ == "__main__":
    main()
