"""The folder of a trained model: weights, configuration, tokenizer, card and a text for people."""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from hashlib import file_digest
from pathlib import Path
from shlex import quote

from scoring.weights.model_card import ModelCard, write_card

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
