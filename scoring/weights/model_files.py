"""A model's files, found by name and identified by their hash. Does not load torch."""

import hashlib
import json
import os
import re
import tempfile
from contextlib import suppress
from pathlib import Path

from scoring.contract.evaluator import EvaluatorError

COUNTED = (".safetensors", ".json", ".txt", ".model", ".tsv", ".jinja")
"""Endings of files that may affect scores: weights, configuration, vocabulary, chats, tables."""
TABLES = (".tsv", ".csv")
"""Endings of files that parameters can name beside a model."""
PICKLED = (".bin", ".pt", ".pth", ".ckpt")
"""Endings of files that can run code when loaded, so they never are."""
TRAINED = "trained"
"""The folder of WEIGHTS_DIR with the models that were trained, imported or registered here."""
HUB_ID = re.compile(r"(?P<repository>(?=[^@]{3,96}(@|$))[\w.-]+/[\w.-]+)(@(?P<revision>[\w.-]{1,255}))?")

LONGEST_SHOWN = 100
"""Characters of a name that messages repeat."""
LARGE = 2**26
"""Bytes from which a file's hash is cached on disk, since hashing a GB takes about a second."""

DIGITS = 64
"""Hex digits of a SHA-256."""

_State = tuple[Path, int, int, int, int]
_hashes: dict[_State, str] = {}


class MissingWeights(EvaluatorError):
    """The model is not on this machine, or in an unsafe format; the message says what to do."""

    def __init__(self, message: str) -> None:
        super().__init__(message, permanent=True)


def first_line(error: Exception) -> str:
    """Return the first line of an error's message, or its class's name."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def shortened(text: str) -> str:
    """Return a name from a file or a person for a message, cut to `LONGEST_SHOWN` characters."""
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 3]}..."


def weights_dir() -> Path:
    """Return the operator's folder of models: WEIGHTS_DIR, by default var/weights."""
    default = Path(__file__).resolve().parents[2] / "var" / "weights"
    return Path(os.environ.get("WEIGHTS_DIR") or default)


def locate(model: str) -> Path:
    """Return the folder of `model`: a path, a folder in `weights_dir()`, or a hub id `owner/name[@revision]`.

    A table is a file with one of its endings, in either folder. Hub ids must have been downloaded before.
    Raises MissingWeights.
    """
    for place in places(model):
        if place.is_dir():
            return _loadable(place, model)
        if place.suffix in TABLES and place.is_file():
            return place
    shown = shortened(model)
    if Path(model).suffix in TABLES:
        raise MissingWeights(f"There is no file {shown!r}, neither here nor in {weights_dir()}.")
    if Path(model).parts[:1] == (TRAINED,):
        raise MissingWeights(
            f"There is no trained model {shown!r} on this machine. It may have been deleted or renamed. List "
            "the models with: manage.py weights list"
        )
    hub_id = HUB_ID.fullmatch(model)
    if hub_id is None:
        raise MissingWeights(
            f"There is no folder {shown!r}, neither here nor in {weights_dir()}, and it is not a hub id "
            "(owner/name or owner/name@revision)."
        )
    downloaded = snapshot(hub_id["repository"], hub_id["revision"])
    if downloaded is None:
        raise MissingWeights(
            f"The weights {model!r} are not on this machine. Download them once with: manage.py weights "
            f"fetch {model} (needs access to huggingface.co); or copy the model's folder to "
            f"{weights_dir() / model}."
        )
    return _loadable(downloaded, model, str(weights_dir() / model))


def places(model: str) -> tuple[Path, ...]:
    """Return the local paths where `model` is, in order, before it is taken for a hub id."""
    found = (Path(model).expanduser(), weights_dir() / model) if model else ()
    # Unlike Path.exists, this is False of a name that is too long for the system.
    return tuple(each for each in found if os.path.exists(each))


def snapshot(repository: str, revision: str | None) -> Path | None:
    """Return the folder of a complete download from the hub, or None."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    patterns = [f"*{ending}" for ending in COUNTED]
    try:
        return Path(
            snapshot_download(repository, revision=revision, local_files_only=True, allow_patterns=patterns)
        )
    except (LocalEntryNotFoundError, HFValidationError):
        return None


def is_offered(model: str) -> bool:
    """Return whether `model` is in `weights_dir()` or was downloaded by hub id.

    Pages accept only these, and no other path of the server.
    """
    if Path(model).expanduser().is_absolute() or ".." in Path(model).parts:
        return False
    found = places(model)
    return weights_dir() / model in found or (HUB_ID.fullmatch(model) is not None and not found)


def locate_offered(model: str) -> Path:
    """Return what `locate` does, for a name from a page: never another path of the server."""
    if not is_offered(model):
        raise MissingWeights(
            f"found {shortened(model)!r}, expected the id of a downloaded model (owner/name) or the name of "
            "a folder or table in the server's WEIGHTS_DIR."
        )
    try:
        return locate(model)
    except MissingWeights as error:
        raise MissingWeights(str(error).replace(str(weights_dir()), "WEIGHTS_DIR")) from error


def has_chat_template(folder: Path) -> bool:
    """Return whether the tokenizer in a model's folder has a chat template."""
    if (folder / "chat_template.jinja").is_file() or (folder / "chat_template.json").is_file():
        return True
    configuration = folder / "tokenizer_config.json"
    return configuration.is_file() and bool(json.loads(configuration.read_text()).get("chat_template"))


def is_here(model: str) -> bool:
    """Return whether `locate` finds the model."""
    try:
        locate(model)
    except MissingWeights:
        return False
    return True


def size(place: Path) -> int:
    """Return the bytes of the weights in a folder, or of one file."""
    weights = [place] if place.is_file() else place.rglob("*.safetensors")
    return sum(path.stat().st_size for path in weights)


def tensor_files(folder: Path, name: str = "model.safetensors") -> list[Path]:
    """Return the file of that name, or the parts that its index names instead. Raises MissingWeights."""
    index = folder / f"{name}.index.json"
    if (folder / name).exists() or not index.exists():
        return [folder / name]
    try:
        parts = sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
        files = [folder / part for part in parts]
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise MissingWeights(
            f"{index} is damaged: it does not name the file of each tensor under weight_map."
        ) from error
    if absent := [path.name for path in files if not path.is_file()]:
        raise MissingWeights(f"{index} names {absent[0]!r}, which is missing. Fetch or copy the model again.")
    return files


def digest(place: Path) -> str:
    """Return the SHA-256, 64 hex digits, of a folder's counted files with their names, or of one file.

    A file is read once per process, a large one once per machine, until its size or times change.
    """
    if place.is_file():
        return _file_digest(place)
    combined = hashlib.sha256()
    for path in sorted(place.rglob("*")):
        if path.suffix in COUNTED and path.is_file():
            combined.update(f"{path.relative_to(place).as_posix()}\n{_file_digest(path)}\n".encode())
    return combined.hexdigest()


def weights_digest(folder: Path) -> str:
    """Return the SHA-256, 64 hex digits, of a folder's weights: of its one file, or over those of several."""
    digests = [_file_digest(path) for path in sorted(folder.glob("*.safetensors"))]
    return digests[0] if len(digests) == 1 else hashlib.sha256("\n".join(digests).encode()).hexdigest()


def _file_digest(path: Path) -> str:
    found = path.stat()
    state = (path.resolve(), found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    if state not in _hashes:
        _hashes[state] = _kept_digest(state) if found.st_size >= LARGE else _read_digest(path)
    return _hashes[state]


def _read_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _kept_digest(state: _State) -> str:
    var = Path(os.environ.get("VAR_DIR") or Path(__file__).resolve().parents[2] / "var")
    kept = var / "hashes" / hashlib.sha256(repr(state).encode()).hexdigest()
    with suppress(OSError):
        digest = kept.read_text()
        if len(digest) == DIGITS:  # else a power cut may have left it empty
            return digest
    digest = _read_digest(state[0])
    with suppress(OSError):  # in a read-only folder each process reads the file itself
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=kept.parent, delete=False) as file:
            file.write(digest)
        os.chmod(file.name, 0o644)  # weights may be fetched by one user and scored by another
        os.replace(file.name, kept)
    return digest


def _loadable(folder: Path, model: str, converted: str = "FOLDER") -> Path:
    """Return the folder if its weights can be loaded. Raises MissingWeights; it names `converted`."""
    if any(folder.glob("*.safetensors")):
        return folder
    if any(path.suffix in PICKLED for path in folder.iterdir()):
        raise MissingWeights(
            f"{model!r} has its weights as pickled files only, which can run code when they are loaded. "
            f"Convert them to safetensors with: manage.py weights convert {model} --to {converted}"
        )
    raise MissingWeights(f"The folder {folder} has no weights (*.safetensors).")
