"""The tables and figures of benchmarks/training/learning_curve.py, from records alone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from benchmarks.training.seahorse_agreement import COLUMNS, EXPLAINED, WITHIN_PARTS, Agreement, table
from benchmarks.training.seahorse_models import (
    BERTSCORE,
    FOLDS,
    ROUGE,
    Network,
    Setting,
    baselines,
    in_words,
    networks,
)
from benchmarks.training.seahorse_questions import Questions
from metaeval.charts import Measured, learning_curve
from metaeval.export.chart_files import standalone
from metaeval.learning_curves.report import RATER, ComparatorFigure, CurveFigures, ShareFigure
from metaeval.learning_curves.shares import percent
from metaeval.snapshot.arrays import Labels
from metaeval.snapshot.from_files import YES_NO

FIRST = ("trained on", "articles", "summaries", "ratings", "networks")
EXAMPLES = "rated summaries"
DRAWN = "pearson"
"""The coefficient of the figures."""
COMPARATORS = (ROUGE, BERTSCORE)


def report(curves: Sequence[Sequence[Setting]], seeds: int, work: Path, images: Path | None) -> str:
    """Return the report on all networks whose records are in `work`; write figures to `images`."""
    lines = [
        "# Learning curves of trained SEAHORSE metrics",
        "",
        "Made by `benchmarks/training/learning_curve.py`; do not edit.",
        "",
        "How many ratings does a trained metric need until it is better than one without training, and "
        "than one rater? all-MiniLM-L6-v2 (6 layers, 384 wide) with a new head learns from a share of the "
        f"training articles. {FOLDS} models for each network: each scores a part of the articles, of which "
        "it has seen nothing, and is trained and chosen on the others, a fifth of which are validation "
        "articles. "
        "A smaller share is a part of each larger one of the same seed, and another seed takes other "
        "articles. The validation articles are the same for all shares, and the checkpoint with the best "
        "Pearson's r on them is kept. Their ratings are not in the numbers below, so a network needs a few "
        "more than these.",
        "",
        EXPLAINED,
        "",
        WITHIN_PARTS,
        "",
        "A network is better than another row from a number of rated summaries on if from there on the 95% "
        "interval of the difference, by the same resamples, is above zero. Networks and one rater are "
        "compared by the same labels, those of the other raters. Differences are not corrected for their "
        "number.",
        "",
    ]
    for curve in curves:
        lines += section(curve, seeds, work, images)
    return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class Share:
    setting: Setting
    networks: Sequence[Network]

    @property
    def summaries(self) -> int:
        return round(mean(each.summaries for each in self.networks))

    @property
    def articles(self) -> int:
        return round(mean(each.articles for each in self.networks))


def section(curve: Sequence[Setting], seeds: int, work: Path, images: Path | None) -> Iterator[str]:
    questions = curve[0].questions
    found = [(setting, *networks(setting, seeds, work)) for setting in curve]
    shares = [Share(setting, trained) for setting, trained, _ in found if trained]
    yield f"## {questions.title}"
    yield ""
    yield f"{questions.about} {len(set(questions.articles))} articles, {len(questions.items):,} summaries."
    yield ""
    if len(questions.names) > 1:
        yield (
            "One network answers all questions; it reads the question before article and summary. Numbers of "
            "summaries and ratings are of one question.\n"
        )
    trained = [each for share in shares for each in share.networks]
    devices, minutes = sorted({each.device for each in trained}), sum(each.minutes for each in trained)
    yield (
        f"{in_words(curve[0].training)}. Trained on: {' and '.join(devices)}, {minutes:.0f} minutes in all, "
        "several networks at once.\n"
    )
    others = baselines(work, questions)
    for name in questions.names:
        yield from on_question(questions, name, shares, {each: others[each] for each in COMPARATORS}, images)
    yield from (f"Not trained, {each}\n" for _, _, refusals in found for each in refusals)


def on_question(
    questions: Questions, name: str, shares: Sequence[Share], others: dict, images: Path | None
) -> Iterator[str]:
    agreement = Agreement(
        questions,
        name,
        [[each.scores[name] for each in share.networks] for share in shares],
        [*others.values()],
    )
    raters = mean(map(len, questions.ratings[name]))
    rows = [
        [
            percent(share.setting.share),
            str(share.articles),
            f"{share.summaries:,}",
            f"{share.summaries * raters:,.0f}",
            str(len(share.networks)),
            *agreement.of_group(place),
        ]
        for place, share in enumerate(shares)
    ]
    rows += [[title, "", "", "", "", *agreement.of_other(place)] for place, title in enumerate(others)]
    rows.append([RATER, "", "", "", "", *agreement.of_rater()])
    yield f"### {name.capitalize()}"
    yield ""
    yield f"{agreement.rows.labels.sum():,.0f} of {len(agreement.rows):,} summaries with yes."
    yield ""
    yield from table(FIRST, rows)
    yield ""
    for coefficient, title in COLUMNS.items():
        of_coefficient = figures(agreement, coefficient, shares, list(others))
        yield f"By {title}:"
        yield ""
        yield from (f"- {of_coefficient.verdict(each, EXAMPLES)}" for each in of_coefficient.comparators)
        yield ""
        if images and coefficient == DRAWN:
            path = images / f"learning-curve-{questions.data}-{name}.svg"
            path.write_text(drawing(of_coefficient, questions), encoding="utf-8")
            yield f"![{name.capitalize()}: {title} by the number of {EXAMPLES}](images/{path.name})"
            yield ""


def figures(
    agreement: Agreement, coefficient: str, shares: Sequence[Share], others: Sequence[str]
) -> CurveFigures:
    """Return the product's figures of a learning curve, whose sentences say from where it is better."""
    found, name = agreement.found[coefficient], agreement.name
    values = agreement.rows.labels
    compared = [
        *zip(others, found.others, found.over_others, strict=True),
        (RATER, found.rater, found.over_rater),
    ]
    return CurveFigures(
        labels=Labels(name, name, name.capitalize(), YES_NO, values, agreement.questions.about),
        shares=[
            ShareFigure(percent(share.setting.share), share.summaries, (), estimate)
            for share, estimate in zip(shares, found.shares, strict=True)
        ],
        comparators=[ComparatorFigure(*each) for each in compared],
        n=len(values),
        articles=len(set(agreement.rows.articles.tolist())),
        left_out={},
        method=agreement.method(coefficient),
    )


def drawing(figures: CurveFigures, questions: Questions) -> str:
    return standalone(
        learning_curve(
            [each.examples for each in figures.shares],
            [Measured.of(each.share, each.estimate) for each in figures.shares],
            [
                Measured.of(each.name, each.estimate)
                for each in figures.comparators
                if not each.estimate.reason
            ],
            title=f"{questions.title}: {figures.labels.title}",
            across_title=f"{EXAMPLES.capitalize()} to learn from",
            up_title=f"{COLUMNS[DRAWN]}, pooled",
            name="SEAHORSE, mean over seeds",
        )
    )
