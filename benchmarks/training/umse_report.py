"""The tables of benchmarks/training/umse.py: the text of docs/results_umse.md."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.summeval_results import DIMENSIONS, Measured, table
from benchmarks.training.umse_networks import BY_SENTENCE, GROUPS, SCENARIOS, TRAINING, Work
from scoring.evaluators.umse import FUSIONS
from scoring.weights.model_card import read_card

TRAININGS = (
    "network",
    "seed",
    "training articles",
    "examples",
    "steps",
    "best step",
    "validation loss",
    "validation accuracy",
    "CPU seconds",
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
        "Spearman's rho over the systems of one article, averaged over articles, with the 95% interval "
        "of 1,000 resamples of articles.",
        "",
        "Training: a third each of articles from cnndm_llm_summaries (summaries by GPT-4), goyal2022 (CNN "
        "and DailyMail references) and SciTLDR. SummEval's articles are left out by id and by their letters. "
        "The encoder is all-MiniLM-L6-v2. No label of SummEval chose a parameter or a checkpoint: the "
        "checkpoint has the lowest loss on pairs of other articles.",
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
        ("Prefix", "Where the prefix is, and how scenarios share it.", of_group(work, "ablation")),
        ("One network for each scenario", "Each learns one scenario.", of_group(work, "separate")),
        (
            "Length of a match",
            "A network of its own for summary matching, whose pairs do not have one length (`lead=three`).",
            of_group(work, "pairs"),
        ),
        (
            "Prefix length",
            "In the input, in another order for each scenario; 16 vectors are in the table of prefixes.",
            of_group(work, "length"),
        ),
    )
    for title, text, measured in sections:
        found = list(measured)
        if found:
            lines += [f"## {title}", "", text, "", *correlations(found, rows), ""]
    return "\n".join([*lines, *trainings(work)]) + "\n"


def by_scenario(work: Work) -> Iterator[Measured]:
    if work.baselines.exists():
        for name, scores in json.loads(work.baselines.read_text()).items():
            yield measured(name, scores)
    for name, title in (SCENARIOS | BY_SENTENCE).items():
        for folder, scores in scored(work, "main"):
            if name in scores:
                yield measured(f"UMSE with {title}, seed {seed_of(folder)}", scores[name])


def fusions(work: Work) -> Iterator[Measured]:
    for folder, scores in scored(work, "main"):
        pairs = list(zip(scores["sum_ref"], scores["sum_doc"], strict=True))
        seed = f"seed {seed_of(folder)}"
        for name, fuse in FUSIONS.items():
            yield measured(f"{name.replace('_', ' ')}, {seed}", [fuse(pair) for pair in pairs])
        yield measured(f"one joint input, {seed}", scores["sum_doc_ref"])


def of_group(work: Work, group: str) -> Iterator[Measured]:
    for network in GROUPS[group]:
        for folder, scores in work.scored(network):
            for name, each in scores.items():
                yield measured(f"{network.title}: {SCENARIOS[name]}, seed {seed_of(folder)}", each)


def trainings(work: Work) -> Iterator[str]:
    yield "## Trainings"
    yield ""
    yield f"| {' | '.join(TRAININGS)} |"
    yield "|" + " --- |" * len(TRAININGS)
    for group in GROUPS:
        for folder, _ in scored(work, group):
            card = read_card(folder / "model")
            if card is not None:
                cells = (
                    folder.name.rsplit("-", 2)[0],
                    seed_of(folder),
                    card.data["Training articles"],
                    card.data["Training examples"],
                    card.trained_with["steps"],
                    card.trained_with["best_step"],
                    f"{card.measures['validation_loss']:.3f}",
                    f"{card.measures['validation_accuracy']:.3f}",
                    work.cpu_seconds(folder).read_text(),
                )
                yield f"| {' | '.join(map(str, cells))} |"


def scored(work: Work, group: str) -> Iterator[tuple[Path, dict[str, list[float]]]]:
    for network in GROUPS[group]:
        yield from work.scored(network)


def seed_of(folder: Path) -> str:
    return folder.name.rpartition("-")[2]


def measured(name: str, scores: Sequence[float]) -> Measured:
    return Measured(name, np.array(scores, dtype=float), 0.0, 0, "")


def correlations(found: Sequence[Measured], rows: Sequence[dict[str, Any]]) -> list[str]:
    experts = {
        name: np.array([each["scores"][name] for row in rows for each in row["sys_summs"].values()])
        for name in DIMENSIONS
    }
    pairs = [(row["id"], system) for row in rows for system in row["sys_summs"]]
    articles, systems = (np.unique(each, return_inverse=True)[1] for each in zip(*pairs, strict=True))
    return table(list(found), experts, articles, systems, "spearman")
