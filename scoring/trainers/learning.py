"""The steps that all methods share, from a base model to the folder of a trained one."""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from hashlib import file_digest
from importlib.metadata import version
from pathlib import Path
from shlex import quote
from typing import Any

import torch

from annotation.declared.settings import settings_as_json
from annotation.texts.text_digests import sha256_of
from scoring.neural.device import device
from scoring.texts.near_duplicates import sketch
from scoring.trainers.contract import Trained, Trainer, TrainingData, Watch
from scoring.trainers.learner import Learner
from scoring.trainers.loop import run, set_seed
from scoring.trainers.resources import check_resources
from scoring.weights.model_card import ModelCard, read_card, write_card
from scoring.weights.model_files import digest, locate

WEIGHTS = "model.safetensors"
README = "README.md"


def write_model(folder: Path, save: Callable[[Path], None], card: ModelCard) -> None:
    """Write the model to `folder`, which appears complete or not at all, and replaces an earlier one.

    `save` writes weights, configuration and tokenizer; the card's hash is filled in.
    """
    unfinished = folder.with_name(f"{folder.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    save(unfinished)
    with (unfinished / WEIGHTS).open("rb") as file:
        whole = replace(card, weights_sha256=file_digest(file, "sha256").hexdigest())
    (unfinished / README).write_text(readme(whole), encoding="utf-8")
    write_card(unfinished, whole)
    shutil.rmtree(folder, ignore_errors=True)
    unfinished.rename(folder)


def readme(card: ModelCard) -> str:
    """Return the model card for people, in Markdown."""
    seen = {split: len(digests) for split, digests in card.articles.items()}
    dimensions = ", ".join(each.replace("_", " ") for each in card.dimensions)
    sections = [
        f"# {card.title}\n\nScores {dimensions} of summaries. Trained by Touchstone from "
        f"`{card.base_model}`.",
        "## Use\n\nPut this folder below `WEIGHTS_DIR` and give its name as `model`, for example\n\n"
        f"    manage.py score {card.evaluator} {_settings({'model': 'FOLDER', **card.params})} "
        "--input EXAMPLES --output SCORES",
        "\n\n".join(["## Training data", _table(card.data), *card.warnings]),
        f"## Articles seen\n\nThe model was fitted to {_count(seen.get('train', 0))} and chosen by "
        f"{_count(seen.get('validation', 0))}. Their digests are in `touchstone.json`. Do not judge the "
        "model on them; Touchstone leaves them out by itself.",
        "## Validation\n\nThese measures chose the model, so they are too favourable. In brackets: 95% "
        "intervals from resamples of the validation articles; without, where these are too few.\n\n"
        f"{_table(_measured(card))}",
        f"## Training\n\n{_table(card.trained_with)}",
        f"## Weights\n\n`{WEIGHTS}`, SHA-256 `{card.weights_sha256}`",
    ]
    return "\n\n".join(sections) + "\n"


def _count(articles: int) -> str:
    return f"{articles:,} article{'' if articles == 1 else 's'}"


def _settings(params: Mapping[str, object]) -> str:
    return " ".join(f"--set {quote(f'{name}={value}')}" for name, value in params.items())


def _measured(card: ModelCard) -> dict[str, str]:
    """Return the measures with their intervals in brackets."""
    found = {name: f"{value:.4g}" for name, value in card.measures.items()}
    return found | {
        name: f"{found[name]} [{low:.4g}, {high:.4g}]" for name, (low, high) in card.intervals.items()
    }


def _table(values: Mapping[str, object], prefix: str = "") -> str:
    """Return the values as a table, nested ones under names with a dot."""
    rows = _rows(values, prefix)
    return "\n".join(["| | |", "| --- | --- |", *(f"| {name} | {value} |" for name, value in rows)])


def _rows(values: Mapping[str, object], prefix: str) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for name, value in values.items():
        if isinstance(value, Mapping):
            rows += _rows(value, f"{prefix}{name}.")
        elif isinstance(value, list | tuple):
            rows.append((prefix + name, ", ".join(map(str, value))))
        else:
            rows.append((prefix + name, f"{value:.4g}" if isinstance(value, float) else str(value)))
    return [(name, value.replace("|", "\\|").replace("\n", " ")) for name, value in rows]


LIBRARIES = ("torch", "transformers", "tokenizers", "accelerate", "peft")


def learn(
    trainer: Trainer,
    build: Callable[[Path], Learner],
    data: TrainingData,
    folder: Path,
    watch: Watch,
    *,
    origin: str,
    title: str,
    evaluator_params: Mapping[str, Any],
    settings: Mapping[str, Any],
) -> Trained:
    """Train what `build` makes of the base model's folder, and write the result to `folder/model`.

    `evaluator_params` and `settings` go into the card. Raises as `Trainer.train`.
    """
    params = trainer.params
    base = locate(params.model)
    folder.mkdir(parents=True, exist_ok=True)
    check_resources(base, folder, trains_all=trainer.trains_all)
    set_seed(params.seed)
    learner = build(base)
    given, base_digest = settings_as_json(params), digest(base)
    owner = sha256_of([trainer.name, given, data.digest, base_digest])
    trained, hours = run(learner, data.train, data.validation, params, folder, watch, owner)
    earlier = read_card(base)
    card = ModelCard(
        method=trainer.name,
        title=title,
        evaluator=trainer.name,
        dimensions=data.dimensions,
        base_model=params.model,
        weights_sha256="",
        params=evaluator_params,
        settings=settings,
        trained_with={
            "params": given,
            "steps": trained.steps,
            "best_step": trained.best_step,
            "cancelled": trained.cancelled,
            "hours": hours,
            "device": torch.cuda.get_device_name() if device().type == "cuda" else "cpu",
            "versions": {name: version(name) for name in LIBRARIES},
            "base_model_sha256": base_digest,
        },
        data={"origin": origin, "languages": list(data.languages), **data.counts},
        warnings=data.warnings,
        articles=_seen(data, earlier),
        sketches=tuple(sorted({*map(sketch, data.texts.values()), *(earlier.sketches if earlier else ())})),
        measures=trained.measures,
        intervals=trained.intervals,
    )
    write_model(folder / "model", learner.save, card)
    return trained


def _seen(data: TrainingData, earlier: ModelCard | None) -> dict[str, tuple[str, ...]]:
    """Return the digests that the model has seen, with those that its base model had seen before."""
    before = earlier.articles if earlier else {}
    return {
        split: tuple(sorted({*data.articles.get(split, ()), *before.get(split, ())}))
        for split in ("train", "validation")
    }
