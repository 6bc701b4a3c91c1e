"""The tables of benchmarks/training/umse.py: the text of docs/results_umse.md."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.summeval_results import DIMENSIONS, RESAMPLES
from benchmarks.training.umse_networks import BY_SENTENCE, GROUPS, SCENARIOS, TRAINING, Network, Work
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.groups import Groups
from scoring.evaluators.umse import FUSIONS

WAYS = SCENARIOS | BY_SENTENCE
TRAININGS = (
    "network",
    "seed",
    "training articles",
    "examples",
    "steps",
    "best step",
    "validation loss",
    "validation accuracy",
    "minutes",
)


def report(work: Work, rows: Sequence[dict[str, Any]]) -> str:
    """Return the report on all networks whose scores for these rows of SummEval are in the work folder."""
    settings = ", ".join(f"`{name}={value}`" for name, value in TRAINING.items())
    count = sum(len(row["sys_summs"]) for row in rows)
    lines = [
        "# UMSE trained on a small encoder",
        "",
        "Made by `benchmarks/training/umse.py`; do not edit.",
        "",
        f"Test: {len(rows)} articles of SummEval (Fabbri et al. 2021), {count:,} summaries by 16 systems, "
        "and the first reference of each article. Labels are means of three experts. Each number is "
        "Spearman's rho over the systems of one article, averaged over articles and over networks with "
        f"different seeds, with the 95% interval of {RESAMPLES:,} resamples of articles. Such networks can "
        "differ by a tenth, which the interval does not show: read nothing into small differences between "
        "rows of one or two networks.",
        "",
        "Training: a third each of articles from cnndm_llm_summaries (summaries by GPT-4), goyal2022 (CNN "
        "and DailyMail references) and SciTLDR, whose references of one sentence hardly take part in summary "
        "matching. SummEval's articles are left out by id and by their letters. The encoder is "
        "all-MiniLM-L6-v2. No label of SummEval chose a parameter or a checkpoint: the checkpoint has the "
        "lowest loss on pairs of other articles.",
        "",
        f"Parameters beside the defaults: {settings}; the first network reads 380 tokens. Rates were chosen "
        "by the loss on pairs of other articles. A text that matches and its mismatch must be in one batch: "
        "drawn apart, networks stayed at chance (loss .69) at every rate tried.",
        "",
    ]
    sections = (
        (
            "By scenario",
            "One network for all scenarios, beside evaluators without training.",
            by_scenario(work),
        ),
        ("Fusion", "Of the scores with reference and with article.", fusions(work)),
        ("One network for each scenario", "Each learns one scenario.", of_group(work, "separate")),
        ("Prefix", "Where the prefix is, and how scenarios share it.", of_group(work, "ablation")),
        (
            "Prefix length",
            "In the input, in another order for each scenario; 16 vectors are in the table of prefixes.",
            of_group(work, "length"),
        ),
        (
            "Length of a match",
            "A network of its own for summary matching, whose pairs do not have one length (`lead=three`).",
            of_group(work, "pairs"),
        ),
        (
            "Trials",
            "Each changes what it names, beside the perturbed prefix in the input. The best of so many rows "
            "is partly luck. Changes that are no parameter are in `benchmarks/training/umse_changes.py`.",
            of_group(work, "trials"),
        ),
    )
    for title, text, found in sections:
        rows_of_table = [row for name, scores in found for row in correlations(name, scores, rows)]
        if rows_of_table:
            lines += [f"## {title}", "", text, ""]
            lines += [f"| evaluator | networks | {' | '.join(DIMENSIONS)} |"]
            lines += ["| --- |" + " --- |" * (1 + len(DIMENSIONS)), *rows_of_table, ""]
    return "\n".join([*lines, *trainings(work)]) + "\n"


Scores = Sequence[Sequence[float]]
"""Of each network, of each summary."""


def by_scenario(work: Work) -> Iterator[tuple[str, Scores]]:
    if work.baselines.exists():
        for name, scores in json.loads(work.baselines.read_text()).items():
            yield name, [scores]
    for name, found in by_way(work, GROUPS["main"][0]):
        yield f"UMSE with {WAYS[name]}", found


def fusions(work: Work) -> Iterator[tuple[str, Scores]]:
    found = dict(by_way(work, GROUPS["main"][0]))
    if found:
        for name, fuse in FUSIONS.items():
            seeds = zip(found["sum_ref"], found["sum_doc"], strict=True)
            yield name.replace("_", " "), [list(map(fuse, zip(*seed, strict=True))) for seed in seeds]
        yield "one joint input", found["sum_doc_ref"]


def of_group(work: Work, group: str) -> Iterator[tuple[str, Scores]]:
    for network in GROUPS[group]:
        for name, found in by_way(work, network):
            yield f"{network.title}: {WAYS[name]}", found


def by_way(work: Work, network: Network) -> Iterator[tuple[str, Scores]]:
    """Yield each way in which the network scores, with what each of its seeds gives."""
    seeds = [scores for _, scores in work.scored(network)]
    for name in network.ways if seeds else ():
        yield name, [scores[name] for scores in seeds]


def trainings(work: Work) -> Iterator[str]:
    found = [
        (network, folder, json.loads(work.training(folder).read_text()))
        for networks in GROUPS.values()
        for network in networks
        for folder, _ in work.scored(network)
    ]
    devices = sorted({training["trained_with"]["device"] for *_, training in found})
    yield f"## Trainings\n\nDevice: {' and '.join(devices)}. Several trainings ran at once.\n"
    yield f"| {' | '.join(TRAININGS)} |"
    yield "|" + " --- |" * len(TRAININGS)
    for network, folder, training in found:
        cells = (
            network.name,
            seed_of(folder),
            training["data"]["Training articles"],
            training["data"]["Training examples"],
            training["trained_with"]["steps"],
            training["trained_with"]["best_step"],
            f"{training['measures']['validation_loss']:.3f}",
            f"{training['measures']['validation_accuracy']:.3f}",
            f"{60 * training['trained_with']['hours']:.1f}",
        )
        yield f"| {' | '.join(map(str, cells))} |"


def seed_of(folder: Path) -> str:
    return folder.name.rpartition("-")[2]


def correlations(name: str, scores: Scores, rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the row of a table: the mean over networks of rho within an article, averaged over articles."""
    groups = Groups(np.array([len(row["sys_summs"]) for row in rows]))
    cells = []
    for dimension in DIMENSIONS:
        labels = np.array([each["scores"][dimension] for row in rows for each in row["sys_summs"].values()])
        of_networks = [
            COEFFICIENTS["spearman"].of_groups(labels, np.array(each, dtype=float), groups)[0]
            for each in scores
        ]
        values = np.mean(of_networks, axis=0)
        values = values[~np.isnan(values)]
        drawn = np.random.default_rng(0).integers(len(values), size=(RESAMPLES, len(values)))
        low, high = np.percentile(values[drawn].mean(axis=1), (2.5, 97.5))
        cells.append(f"{values.mean():.3f} [{low:.3f}, {high:.3f}]")
    yield f"| {name} | {len(scores)} | {' | '.join(cells)} |"
