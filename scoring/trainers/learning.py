"""The steps that all methods share, from a base model to the folder of a trained one."""

from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from annotation.declared.settings import settings_as_json
from scoring.contract.digests import sha256_of
from scoring.neural.device import device
from scoring.texts.near_duplicates import sketch
from scoring.trainers.contract import Trained, Trainer, TrainingData, Watch
from scoring.trainers.learner import Learner
from scoring.trainers.loop import run, set_seed
from scoring.trainers.model_folder import write_model
from scoring.trainers.resources import check_resources
from scoring.weights.model_card import ModelCard, read_card
from scoring.weights.model_files import digest, locate

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
