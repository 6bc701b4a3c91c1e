"""Trained models as one file, a plain tar: written without a copy, and read without trust. Loads no torch."""

import shutil
import tarfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from annotation.texts.nested_json import read_json
from scoring.texts.near_duplicates import Sketches
from scoring.weights.model_card import NAME, ModelCard, read_card
from scoring.weights.model_files import MissingWeights, weights_digest
from scoring.weights.trained_models import TrainedModel, arriving

ENDINGS = (".safetensors", ".json", ".txt", ".model", ".jinja", ".md")
"""Endings of files that an archive may hold. None of them can run code."""
MOST_FILES = 50
LARGEST_TEXT = 2**26
"""Bytes of the largest file that is not weights."""
MIB = 2**20
BLOCK = 512  # bytes; files in a tar begin and end at multiples


class ArchiveRefused(ValueError):
    """The archive is none, or holds what it may not; the message says what."""


def packed(model: TrainedModel) -> Iterator[bytes]:
    """Yield the bytes of an archive with the model's files."""
    for path in sorted(model.folder.iterdir()):
        if path.suffix in ENDINGS and path.is_file():
            entry = tarfile.TarInfo(f"{model.name}/{path.name}")
            entry.size, entry.mode = path.stat().st_size, 0o644
            yield entry.tobuf(tarfile.PAX_FORMAT)
            with path.open("rb") as file:
                while block := file.read(MIB):
                    yield block
            yield bytes(-entry.size % BLOCK)
    yield bytes(2 * BLOCK)


def install_archive(file: BinaryIO, name: str, most_bytes: int) -> ModelCard:
    """Check an archive of at most `most_bytes` and install its model under `name`; return its card.

    Raises ArchiveRefused, and then leaves nothing behind.
    """
    with arriving(name) as folder:
        _extract(file, folder, most_bytes)
        return _checked(folder)


def _extract(file: BinaryIO, folder: Path, most_bytes: int) -> None:
    left = most_bytes
    try:
        with tarfile.open(fileobj=file, mode="r|") as archive:
            for number, entry in enumerate(archive, start=1):
                if entry.isdir():
                    continue
                left -= entry.size
                place = folder / _file_name(entry)
                if number > MOST_FILES or left < 0:
                    raise ArchiveRefused(
                        f"the archive is too large, expected at most {MOST_FILES} files and "
                        f"{most_bytes // MIB:,} MiB"
                    )
                if place.exists():
                    raise ArchiveRefused(f"the archive has {place.name} twice")
                content = archive.extractfile(entry)
                assert content is not None  # it is a regular file
                with place.open("wb") as copy:
                    shutil.copyfileobj(content, copy, MIB)
    except tarfile.TarError as error:
        raise ArchiveRefused(f"this is no archive of a model (a plain .tar): {error}") from error


def _file_name(entry: tarfile.TarInfo) -> str:
    """Return the name of a file that lies directly in the archive's one folder."""
    parts = PurePosixPath(entry.name).parts
    name = parts[-1] if parts else ""
    if not entry.isreg() or len(parts) > 2 or name.startswith(".") or ".." in parts or entry.name[:1] == "/":
        raise ArchiveRefused(f"found {entry.name!r}, expected plain files in one folder")
    if PurePosixPath(name).suffix not in ENDINGS:
        raise ArchiveRefused(f"found {name!r}, expected files that end in {', '.join(ENDINGS)}")
    if not name.endswith(".safetensors") and entry.size > LARGEST_TEXT:
        raise ArchiveRefused(f"{name} is larger than {LARGEST_TEXT // MIB} MiB")
    return name


def _checked(folder: Path) -> ModelCard:
    """Return the card of a folder in which everything is as it says."""
    from safetensors import SafetensorError, safe_open

    try:
        card = read_card(folder)
    except MissingWeights as error:
        raise ArchiveRefused(f"{NAME} cannot be read") from error
    if card is None or not any(folder.glob("*.safetensors")):
        raise ArchiveRefused(f"the archive lacks {NAME} or weights: it is no model of Touchstone")
    if not _is_sound(card):
        raise ArchiveRefused(f"{NAME} has fields of the wrong kind")
    try:
        Sketches(card.sketches).check()
    except ValueError as error:
        raise ArchiveRefused(f"{NAME} has damaged sketches of articles: {error}") from error
    for path in folder.iterdir():
        try:
            if path.suffix == ".json":
                read_json(path.read_text(encoding="utf-8"))
            elif path.suffix == ".safetensors":
                with safe_open(path, framework="numpy"):
                    pass
        except (ValueError, SafetensorError) as error:
            raise ArchiveRefused(f"{path.name} is damaged: {error}") from error
    found = weights_digest(folder)
    if found != card.weights_sha256:
        raise ArchiveRefused(
            f"the weights are damaged: their SHA-256 is {found}, {NAME} states {card.weights_sha256}"
        )
    return card


def _is_sound(card: ModelCard) -> bool:
    """Return whether the fields that are used later are of the kind that they should be."""
    names = (card.method, card.title, card.evaluator, card.base_model, card.weights_sha256)
    mappings = (card.params, card.articles, card.measures)
    numbers = (*card.measures.values(), *chain(*card.intervals.values()))
    return (
        all(isinstance(each, str) for each in (*names, *card.dimensions, *card.warnings, *card.sketches))
        and all(isinstance(each, dict) for each in mappings)
        and all(isinstance(each, str) for digests in card.articles.values() for each in digests)
        and all(isinstance(each, int | float) for each in numbers)
    )
