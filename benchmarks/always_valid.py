"""How often looking again and again misleads: `python -m benchmarks.always_valid [--campaigns 200]`.

Simulated campaigns of 400 articles. As in coverage_intervals, label and score are sums of an effect of the
article, one of the system and one of the summary. Someone looks at 10 articles, at each up to 20, and then
whenever there are a twentieth more, and stops by one of five rules:

- ever: as soon as the interval is wrong; no rule can do worse;
- settled: as soon as the interval excludes that nothing is there (0, a half, or no difference);
- good: as soon as it lies above the true value less .1;
- narrow: as soon as it is as narrow as the fixed-sample interval is expected to be at 100 articles;
- end: after all articles.

Prints by world and statistic the shares of campaigns whose interval is wrong when they stop, of the
always-valid interval and of the jackknife's, which is for one look; how many times as wide the former is at
20, 50, 100 and 400 articles; and at how many articles the first one comes, the median. Exit code 1 with
`--check` if an always-valid interval is ever wrong in more than MOST of the campaigns, or more than WIDEST
times as wide at the end; over systems' means Touchstone offers none, and these figures show why.
"""

import argparse
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import ndtri

from benchmarks.coverage_intervals import SYSTEM_VARIANCE
from metaeval.stats.agreement.krippendorff import ALPHA
from metaeval.stats.agreement.rated_units import RatedUnits
from metaeval.stats.arrays import Bools, Floats, Ints
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.result import NoIntervalError
from metaeval.stats.rows import Rows
from metaeval.stats.uncertainty.always_valid import always_valid_interval
from metaeval.stats.uncertainty.bootstrap import Bootstrap
from metaeval.stats.uncertainty.jackknife_interval import jackknife_interval

ARTICLES, MANY, SET = 400, 20_000, 20
LOOKS = (*range(10, 20), *(round(20 * 1.05**step) for step in range(61)), ARTICLES)
WIDTHS_AT = (20, 50, 100, 400)
RULES = ("ever", "settled", "good", "narrow", "end")
MOST, WIDEST = 0.055, 1.72
AT_RANDOM = 0.2
NUMBERS: Floats = np.arange(2.0)


@dataclass(frozen=True)
class World:
    name: str
    systems: int = 4
    articles: float = 0.4
    """The articles' share of the variance."""
    correlation: float = 0.5
    """Of label and score."""
    yes: float = 0.5
    """The share of yes."""
    is_shuffled: bool = False
    """Whether summaries come in a random order, not article by article."""


WORLDS = (
    World("usual"),
    World("articles differ", articles=0.75),
    World("close scores", correlation=0.9),
    World("few yes", yes=0.1),
    World("one summary", systems=1),
    World("shuffled", is_shuffled=True),
    World("16 systems", systems=16, correlation=0.9),
)


def effects(rng: np.random.Generator, world: World, *shape: int) -> Floats:
    """Return effects on the label and on both scores, (3, ...), each correlated with the label alike."""
    label, *own = rng.normal(size=(3, *shape))
    rest = np.sqrt(1 - world.correlation**2)
    return np.stack([label, *(world.correlation * label + rest * each for each in own)])


@dataclass(frozen=True, eq=False)
class Study:
    """Summaries in the order in which they are rated."""

    labels: Floats
    """(n,) of five steps."""
    yes: Floats
    """(n,) 0 or 1."""
    scores: Floats
    """(2, n) of two evaluators that are equally good."""
    answers: Ints
    """(n, 2) of two raters."""
    articles: Ints
    systems: Ints

    @classmethod
    def drawn(cls, rng: np.random.Generator, world: World, of_systems: Floats, n_articles: int) -> "Study":
        """Return a study; `of_systems` are the systems' effects, (3, 1, systems)."""
        shape = n_articles, of_systems.shape[-1]
        rest = 1 - SYSTEM_VARIANCE - world.articles
        latent, *scores = (
            np.sqrt(world.articles) * effects(rng, world, n_articles, 1)
            + np.sqrt(SYSTEM_VARIANCE) * of_systems
            + np.sqrt(rest) * effects(rng, world, *shape)
        ).reshape(3, -1)
        order = rng.permutation(latent.size) if world.is_shuffled else np.arange(latent.size)
        yes = latent > float(ndtri(1 - world.yes))
        noise = rng.random((2, latent.size, 2))
        answers = np.where(noise[0] < AT_RANDOM, noise[1] < world.yes, yes[:, None]).astype(int)
        articles, systems = np.indices(shape).reshape(2, -1)
        return cls(
            np.clip(np.round(2 * latent), -2, 2)[order],
            yes[order].astype(float),
            np.array(scores)[:, order],
            answers[order],
            articles[order],
            systems[order],
        )

    def at(self, chosen: Bools | slice) -> "Study":
        return Study(
            self.labels[chosen],
            self.yes[chosen],
            self.scores[:, chosen],
            self.answers[chosen],
            self.articles[chosen],
            self.systems[chosen],
        )


@dataclass(frozen=True)
class Statistic:
    name: str
    value: Callable[[Study], float]
    without: Callable[[Study], Floats]
    """The value without each article, (articles,)."""
    is_correlation: bool = True
    least: float | None = -1.0
    """The lowest possible value; None for differences."""
    nothing: float = 0.0
    """The value where nothing is there."""


def correlation(name: str, level: str, coefficient: str, **kind: float | bool) -> Statistic:
    is_yes_no = coefficient == "roc_auc"

    def rows(study: Study) -> Rows:
        labels = study.yes if is_yes_no else study.labels
        return Rows(labels, study.scores[:1], study.articles, study.systems, yes_no=is_yes_no)

    return Statistic(
        name,
        lambda study: LEVELS[level].estimate(COEFFICIENTS[coefficient], rows(study).each[0]).value,
        lambda study: Bootstrap("articles", level, coefficient, rows(study)).jackknife[0],
        **kind,
    )


def difference(name: str, level: str, coefficient: str) -> Statistic:
    def rows(study: Study) -> Rows:
        return Rows(study.labels, study.scores, study.articles, study.systems)

    def value(study: Study) -> float:
        one, other = LEVELS[level].estimates(COEFFICIENTS[coefficient], rows(study))
        return one.value - other.value

    def without(study: Study) -> Floats:
        one, other = Bootstrap("articles", level, coefficient, rows(study)).jackknife
        return one - other

    return Statistic(name, value, without, is_correlation=False, least=None)


def means_without(study: Study) -> Floats:
    n, sums = (np.bincount(study.articles, weights) for weights in (None, study.yes))
    there = n > 0
    return (study.yes.sum() - sums[there]) / (len(study.yes) - n[there])


def units(study: Study) -> RatedUnits:
    return RatedUnits.of_counts((study.answers[:, :, None] == np.arange(2)).sum(axis=1))


def alphas_without(study: Study) -> Floats:
    those = np.unique(study.articles)
    return ALPHA.values(
        units(study).with_times((study.articles[:, None] != those).astype(float)), "nominal", NUMBERS
    )


STATISTICS = (
    Statistic("mean", lambda study: float(study.yes.mean()), means_without, False, None, 0.5),
    correlation("r", "pooled", "pearson"),
    correlation("rho", "pooled", "spearman"),
    correlation("tau-b", "pooled", "kendall_b"),
    correlation("tau-b by article", "article", "kendall_b"),
    correlation("rho within systems", "within_system", "spearman"),
    correlation("AUC", "pooled", "roc_auc", is_correlation=False, least=0.0, nothing=0.5),
    Statistic(
        "alpha",
        lambda study: float(ALPHA.values(units(study), "nominal", NUMBERS)[0]),
        alphas_without,
        is_correlation=False,
    ),
    difference("difference of r", "pooled", "pearson"),
    difference("difference by article", "article", "kendall_b"),
    correlation("r of systems", "system", "pearson"),
    correlation("tau-b of systems", "system", "kendall_b"),
    difference("difference of systems", "system", "pearson"),
)


@dataclass(frozen=True, eq=False)
class Campaign:
    """What someone sees at each look; nan where there is no interval."""

    always: Floats
    """(looks, 2) the always-valid interval's ends."""
    once: Floats
    """(looks, 2) the jackknife's."""

    def wrong(self, kind: str, true: float, statistic: Statistic, usual: float) -> list[bool]:
        """Return whether the interval is wrong when the campaign stops, by rule."""
        low, high = getattr(self, kind).T
        with np.errstate(invalid="ignore"):
            outside = (low > true + 1e-9) | (high < true - 1e-9)
            stops = (
                outside,
                (low > statistic.nothing) | (high < statistic.nothing),
                low > true - 0.1,
                high - low <= usual,
                np.zeros(len(low), dtype=bool),
            )
        return [bool(outside[np.argmax(each) if each.any() else -1]) for each in stops]


def look_at(articles: int) -> int:
    """Return the place of the first look at that many articles or more."""
    return next(place for place, look in enumerate(LOOKS) if look >= articles)


def seen(study: Study, statistic: Statistic) -> Campaign:
    least = -1.0 if statistic.least is None else statistic.least
    per_article = len(study.labels) // ARTICLES
    always, once = [], []
    for look in LOOKS:
        here = study.at(slice(look * per_article))
        value, without, n = statistic.value(here), statistic.without(here), len(np.unique(here.articles))
        always.append(ends(partial(always_valid_interval, value, without, n, least=statistic.least), value))
        kind = {"is_correlation": statistic.is_correlation, "least": least}
        once.append(ends(partial(jackknife_interval, value, without, **kind), value))
    return Campaign(np.array(always), np.array(once))


def ends(interval: Callable[[], tuple[float, float]], value: float) -> tuple[float, float]:
    """Return the ends of an interval; nan where there is none."""
    try:
        return interval() if not np.isnan(value) else (np.nan, np.nan)
    except NoIntervalError:
        return np.nan, np.nan


def campaigns(world: World, statistic: Statistic, seed: int) -> list[tuple[float, Campaign]]:
    """Return SET campaigns with the same systems, each with the true value."""
    rng = np.random.default_rng([28, seed])
    of_systems = effects(rng, world, 1, world.systems)
    true = statistic.value(Study.drawn(rng, world, of_systems, MANY))
    return [(true, seen(Study.drawn(rng, world, of_systems, ARTICLES), statistic)) for _ in range(SET)]


def applies(world: World, statistic: Statistic) -> bool:
    """Return whether the world has enough systems and not the same values as the usual one."""
    if world.systems == 1:
        return not statistic.name.endswith(("by article", "within systems", "of systems"))
    if world.systems > 4:
        return statistic.name.endswith("of systems")
    return world.yes == 0.5 or statistic.name in ("mean", "AUC", "alpha")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [each.name for each in WORLDS], [each.name for each in STATISTICS]
    parser.add_argument("--campaigns", type=int, default=200)
    parser.add_argument("--worlds", nargs="+", choices=names[0], default=names[0])
    parser.add_argument("--statistics", nargs="+", choices=names[1], default=names[1])
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    error = np.sqrt(0.05 * 0.95 / arguments.campaigns)
    print(f"{arguments.campaigns} campaigns, {len(LOOKS)} looks; standard error at 5%: {error:.1%}")
    print(
        f"{'world':16}{'statistic':18}{'always-valid: ' + ' '.join(RULES):44}{'for one look':36}"
        "times as wide        first  seconds"
    )
    failed = []
    with ProcessPoolExecutor() as pool:
        for world in (each for each in WORLDS if each.name in arguments.worlds):
            for statistic in (each for each in STATISTICS if each.name in arguments.statistics):
                if not applies(world, statistic):
                    continue
                start = time.perf_counter()
                sets = pool.map(
                    partial(campaigns_named, world.name, statistic.name),
                    range(arguments.campaigns // SET),
                )
                found = [each for one_set in sets for each in one_set]
                widths = {
                    kind: np.array([np.diff(getattr(each, kind))[:, 0] for _, each in found])
                    for kind in ("always", "once")
                }
                usual = float(np.nanmean(widths["once"][:, look_at(100)]))
                wrong = {
                    kind: np.mean([each.wrong(kind, true, statistic, usual) for true, each in found], axis=0)
                    for kind in ("always", "once")
                }
                ratios = [
                    np.nanmedian(widths["always"][:, at] / widths["once"][:, at])
                    for at in map(look_at, WIDTHS_AT)
                ]
                is_there = ~np.isnan(widths["always"])
                first = np.median([LOOKS[np.argmax(each)] for each in is_there if each.any()])
                shares = ["  ".join(f"{each:5.1%}" for each in wrong[kind]) for kind in ("always", "once")]
                print(
                    f"{world.name:16}{statistic.name:18}{shares[0]:44}{shares[1]:36}"
                    f"{' '.join(f'{each:.2f}' for each in ratios)}"
                    f"  {first:5.0f} {time.perf_counter() - start:8.0f}",
                    flush=True,
                )
                is_offered = not statistic.name.endswith("of systems")
                # Unless chance explains it: fewer than two standard errors above.
                is_wrong = wrong["always"][0] - 2 * error > MOST
                if is_offered and (is_wrong or ratios[-1] > WIDEST):
                    failed.append(f"{world.name}, {statistic.name}")
    if arguments.check and failed:
        raise SystemExit(f"not as stated: {'; '.join(failed)}")


def campaigns_named(world: str, statistic: str, seed: int) -> list[tuple[float, Campaign]]:
    """Return `campaigns` by names, which another process can be given."""
    return campaigns(
        next(each for each in WORLDS if each.name == world),
        next(each for each in STATISTICS if each.name == statistic),
        seed,
    )


if __name__ == "__main__":
    main()
