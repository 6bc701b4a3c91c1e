"""SEAHORSE metrics trained on a small encoder from a few hundred ratings, beside baselines.

    OMP_NUM_THREADS=1 python benchmarks/training/seahorse.py DATA ENCODER WORK --jobs 2 \\
        > docs/results_seahorse.md

DATA has the folders blanc_dailynews, xsum_hallucination, goyal2022 and summeval; ENCODER is a folder with
all-MiniLM-L6-v2, as in benchmarks/summeval_results.py. WORK keeps the scores of each training in a small
file. A training whose file is there is not repeated; benchmarks/training/learning_curve.py has some in
common. `--only report` trains nothing. `--articles 12 --seeds 1 --epochs 1` tries all of it on little data.
With `--umse FOLDER`, a UMSE model that benchmarks/training/umse.py made from the same DATA, further models
begin with its encoder. With `--nli FOLDER`, a classifier of entailment is a further baseline.
"""

import argparse
import sys
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import copy
from statistics import mean

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np
from safetensors.torch import load_file, save_file

from benchmarks.training.seahorse_agreement import EXPLAINED, WITHIN_PARTS, Agreement, table
from benchmarks.training.seahorse_models import (
    FOLDS,
    SUMMEVAL_TRAINING,
    TRAINING,
    Setting,
    baselines,
    baselines_with,
    in_words,
    make_records,
    networks,
)
from benchmarks.training.seahorse_questions import (
    Questions,
    attribution,
    informative,
    informative_to_most,
    summeval,
)
from benchmarks.training.umse import letters, training_items
from scoring.weights.model_card import read_card, write_card
from scoring.weights.model_files import weights_digest

TRAINED = "Trained encoder"
SUMMEVAL_QUESTIONS = ("consistency", "relevance")
ENCODER = "encoder."
"""How the names of the encoder's tensors begin in a UMSE model."""


@dataclass(frozen=True)
class Section:
    """One question, and the settings of training that the table compares, by their titles."""

    questions: Questions
    settings: dict[str, Setting]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("encoder", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--nli", type=Path)
    parser.add_argument("--umse", type=Path)
    parser.add_argument("--jobs", type=int, default=1, help="trainings at once")
    parser.add_argument("--seeds", type=int, default=3, help="networks of each row")
    parser.add_argument("--articles", type=int, help="of each data set; all by default")
    parser.add_argument("--epochs", type=int, default=TRAINING["epochs"])
    parser.add_argument("--only", choices=["train", "report"])
    given = parser.parse_args()
    asked = sections(given.data, given.encoder, given.articles, given.epochs)
    if given.umse:
        base = umse_encoder(given.umse, given.work / "umse-encoder")
        refuse_seen(given.data, [each.questions for each in asked])
        for each in asked:
            own = each.settings[TRAINED]
            each.settings[f"{TRAINED}, begun with UMSE's"] = replace(own, name=f"{own.name}-umse", base=base)
    if given.only != "report":
        evaluators = baselines_with(given.encoder)
        if given.nli:
            evaluators.append(("Entailment", "entailment", {"model": str(given.nli)}))
        settings = {setting.name: setting for each in asked for setting in each.settings.values()}
        # The longest trainings first, so that none is left for the end.
        longest_first = sorted(settings.values(), key=lambda each: -len(each.questions.items))
        make_records(longest_first, given.seeds, given.work, given.jobs, evaluators)
    if given.only != "train":
        sys.stdout.write(report(asked, given.seeds, given.work))


def sections(data: Path, encoder: Path, articles: int | None, epochs: int) -> list[Section]:
    few, many = ({**each, "epochs": epochs} for each in (TRAINING, SUMMEVAL_TRAINING))
    mean_rating, majority, marked, experts = (
        read(data).of_articles(articles) for read in (informative, informative_to_most, attribution, summeval)
    )
    soft = Setting("informative-soft", majority.with_soft_targets(), encoder, {**few, "labels": "share"})
    found = [
        Section(
            mean_rating,
            {TRAINED: Setting("informative", mean_rating, encoder, few), f"{TRAINED}, soft targets": soft},
        ),
        Section(
            majority,
            {
                TRAINED: Setting("informative-majority", majority, encoder, few),
                f"{TRAINED}, soft targets": soft,
            },
        ),
        Section(marked, {TRAINED: Setting("attribution", marked, encoder, few)}),
    ]
    together = Setting("summeval", experts, encoder, many)
    for name in SUMMEVAL_QUESTIONS:
        questions = replace(experts, names=(name,), title=f"{name.capitalize()} (SummEval)")
        found.append(
            Section(
                questions,
                {
                    TRAINED: Setting(f"summeval-{name}", questions, encoder, many),
                    f"{TRAINED} for four questions": together,
                },
            )
        )
    return found


def report(asked: list[Section], seeds: int, work: Path) -> str:
    lines = [
        "# Results of trained SEAHORSE metrics",
        "",
        "Made by `benchmarks/training/seahorse.py`; do not edit.",
        "",
        "all-MiniLM-L6-v2 (6 layers, 384 wide) with a new head, trained to answer one question. "
        f"{FOLDS} models for each network: each scores a part of the articles, of which it has seen nothing, "
        f"and is trained and chosen on the others. {in_words(TRAINING)}; on SummEval batches of "
        f"{SUMMEVAL_TRAINING['batch_size']} and {SUMMEVAL_TRAINING['max_length']} tokens. The checkpoint "
        "with the best Pearson's r on validation articles is kept. Tried before, on DailyNews: 3 epochs at a "
        "rate of 0.0002 with 192 tokens and attention dropout, r .034 and ROC AUC .550.",
        "",
        EXPLAINED,
        "",
        "Models and training data are hundreds of times smaller than the authors': these tables show what "
        "the method gives at this size, not what the paper's metrics give. No classifier of entailment could "
        "be had on the machine that made the tables; `--nli FOLDER` adds its row.",
        "",
        WITHIN_PARTS,
        "",
    ]
    for each in asked:
        lines += section(each, seeds, work)
    return "\n".join(lines)


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


def refuse_seen(data: Path, asked: list[Questions]) -> None:
    """Fail if UMSE may have learnt from an article that is scored, in whatever tokenisation."""
    seen = {letters(item.article) for source in training_items(data) for item in source}
    for questions in asked:
        assert not seen & {letters(item.article) for item in questions.items}, questions.title


def section(asked: Section, seeds: int, work: Path) -> list[str]:
    questions = asked.questions
    [name] = questions.names
    found = {title: networks(setting, seeds, work) for title, setting in asked.settings.items()}
    trained = {title: each for title, (each, _) in found.items() if each}
    others = {"Majority class": np.zeros(len(questions.items)), **baselines(work, questions)}
    agreement = Agreement(
        questions,
        name,
        [[each.scores[name] for each in group] for group in trained.values()],
        list(others.values()),
    )
    answers = Counter(agreement.rows.labels.tolist())
    own = trained.get(TRAINED, [])
    learnt = f"; each model learns from about {mean(each.summaries for each in own):.0f}" if own else ""
    rows = [[title, "", *agreement.of_other(place)] for place, title in enumerate(others)]
    rows.append(["One rater", "", *agreement.of_rater()])
    rows += [
        [title, str(len(group)), *agreement.of_group(place)]
        for place, (title, group) in enumerate(trained.items())
    ]
    devices = sorted({each.device for group in trained.values() for each in group})
    return [
        f"## {questions.title}",
        "",
        f"{questions.about} {len(set(agreement.rows.articles.tolist()))} articles, {len(agreement.rows):,} "
        f"summaries, {answers[1.0]} with yes{learnt}. Trained on: {' and '.join(devices)}.",
        "",
        *table(("evaluator", "networks"), rows),
        *(f"\n{title}: {each}" for title, (_, refusals) in found.items() for each in refusals),
        "",
    ]


if __name__ == "__main__":
    main()
