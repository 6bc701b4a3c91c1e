"""SEAHORSE metrics trained on a small encoder from a few hundred ratings, beside baselines.

    OMP_NUM_THREADS=1 python benchmarks/training/seahorse.py DATA ENCODER WORK > docs/results_seahorse.md

DATA has the folders blanc_dailynews, xsum_hallucination and goyal2022; ENCODER is a folder with all-
MiniLM-L6-v2, as in benchmarks/summeval_results.py. Each model is kept in a folder of WORK and not trained
again, and a training that was stopped goes on. With `--umse FOLDER`, a UMSE model that
benchmarks/training/umse.py made from the same DATA, further models begin with its encoder. With `--nli
FOLDER`, a classifier of entailment is a further baseline.
"""

import argparse
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from shutil import copy

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np
from safetensors.torch import load_file, save_file

from benchmarks.training.seahorse_models import (
    COLUMNS,
    FOLDS,
    RESAMPLING,
    cells,
    held_out_scores,
    in_words,
    rows_of,
    scored,
    within_folds,
)
from benchmarks.training.seahorse_questions import Questions, attribution, informative
from benchmarks.training.umse import letters, training_items
from scoring.weights.model_card import read_card, write_card
from scoring.weights.model_files import weights_digest

TRAINING = {
    "learning_rate": 1e-4,
    "schedule": "linear",
    "warmup_share": 0.1,
    "epochs": 6,
    "batch_size": 8,
    "patience": 0,
    "max_length": 256,
    "attention_dropout": False,
    "test_share": 0,
    "validation_share": 0.2,
    "precision": "bfloat16",
}
BASELINES: tuple[tuple[str, str, dict[str, str]], ...] = (
    ("Length in words", "length", {}),
    ("Copy rate", "copy_rate", {}),
    ("ROUGE-L against the article", "rouge", {"variant": "L", "against": "article"}),
    ("Embedding similarity to the article", "similarity", {"against": "article"}),
    ("BERTScore F1, layer 6, against the article", "bertscore", {"layer": "6", "against": "article"}),
)
WITH_MODEL = ("similarity", "bertscore")
ENCODER = "encoder."
"""How the names of the encoder's tensors begin in a UMSE model."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("encoder", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--nli", type=Path)
    parser.add_argument("--umse", type=Path)
    given = parser.parse_args()
    lines = [
        "# Results of trained SEAHORSE metrics",
        "",
        "Made by `benchmarks/training/seahorse.py`; do not edit.",
        "",
        "all-MiniLM-L6-v2 (6 layers, 384 wide) with a new head, trained to answer one question. "
        f"{FOLDS} models: each scores a part of the articles, of which it has seen nothing, and is trained "
        f"and chosen on the others. {in_words(TRAINING)}; the checkpoint with the best Pearson's r on "
        "validation articles; seed 0. Tried before, on DailyNews: 3 epochs at a rate of 0.0002 with 192 "
        "tokens and attention dropout, r .034 and ROC AUC .550.",
        "",
        f"The coefficients are pooled over all summaries. Brackets show the 95% percentile interval of "
        f"{RESAMPLING.resamples:,} resamples of articles. Models and training data are hundreds of times "
        "smaller than the authors': these tables show what the method gives at this size, not what the "
        "paper's metrics give. No classifier of entailment could be had on the machine that made the tables; "
        "`--nli FOLDER` adds its row.",
        "",
        "A model that has learnt only how many answers are yes scores a part of the articles the lower, the "
        "more yes it holds: they are missing where it learns. Pooled over the models, its values fall below "
        "chance. So the ROC AUC within each part stands below the table.",
        "",
    ]
    bases = {"Trained encoder": given.encoder}
    asked = (informative(given.data), attribution(given.data))
    if given.umse:
        bases["Trained encoder, begun with UMSE's"] = umse_encoder(given.umse, given.work / "umse-encoder")
        refuse_seen(given.data, asked)
    for question in asked:
        lines += section(question, given.encoder, bases, given.work, given.nli)
    sys.stdout.write("\n".join(lines))


def umse_encoder(model: Path, folder: Path) -> Path:
    """Write the encoder of a UMSE model to `folder` and return it, with a card of the articles seen."""
    card = read_card(model)
    assert card is not None
    folder.mkdir(parents=True, exist_ok=True)
    for each in model.iterdir():
        if each.suffix in (".json", ".txt"):
            copy(each, folder)
    tensors = load_file(model / "model.safetensors")
    encoder = {name.removeprefix(ENCODER): each for name, each in tensors.items() if name.startswith(ENCODER)}
    save_file(encoder, folder / "model.safetensors", metadata={"format": "pt"})
    write_card(folder, replace(card, weights_sha256=weights_digest(folder)))
    return folder


def refuse_seen(data: Path, asked: tuple[Questions, ...]) -> None:
    """Fail if UMSE may have learnt from an article that is scored, in whatever tokenisation."""
    seen = {letters(item.article) for source in training_items(data) for item in source}
    for questions in asked:
        assert not seen & {letters(item.article) for item in questions.items}, questions.title


def section(
    questions: Questions, encoder: Path, bases: dict[str, Path], work: Path, nli: Path | None
) -> list[str]:
    [name] = questions.names
    found = [("Majority class", np.full(len(questions.items), 0.0))]
    for title, evaluator, settings in BASELINES:
        model = {"model": str(encoder)} if evaluator in WITH_MODEL else {}
        found.append((title, only(scored(evaluator, {**model, **settings}, questions.items))))
    if nli:
        found.append(("Entailment", only(scored("entailment", {"model": str(nli)}, questions.items))))
    notes = []
    for title, base in bases.items():
        folder = work / (name if base == encoder else f"{name}-{base.name}")
        scores, refusals = held_out_scores(questions, base, TRAINING, folder)
        found.append((title, scores[name]))
        notes += [f"{title}: {each}" for each in refusals]
        apart = within_folds(questions, rows_of(questions, name, scores[name]))
        notes.append(f"{title}, ROC AUC on the articles of each model: {apart}.")
    table = np.array([scores for _, scores in found])
    common = ~np.isnan(table).any(axis=0)
    rows = rows_of(questions, name, table).at(common)
    answers = Counter(rows.labels.tolist())
    learnt = len(rows) * (FOLDS - 1) / FOLDS * (1 - TRAINING["validation_share"])
    return [
        f"## {questions.title}",
        "",
        f"{questions.about} {len(set(rows.articles))} articles, {len(rows)} summaries, {answers[1.0]} with "
        f"yes; each model learns from about {learnt:.0f}.",
        "",
        f"| evaluator | {' | '.join(COLUMNS.values())} |",
        "| --- |" + " --- |" * len(COLUMNS),
        *(f"| {title} | {' | '.join(each)} |" for (title, _), each in zip(found, cells(rows), strict=True)),
        *(f"\n{note}" for note in notes),
        "",
    ]


def only(scores: dict[str, np.ndarray]) -> np.ndarray:
    [values] = scores.values()
    return values


if __name__ == "__main__":
    main()
