"""Where a model's files are and what they are: found by name, told apart by their hash. Loads no torch."""

import hashlib
import json
import os
import re
import tempfile
from contextlib import suppress
from pathlib import Path

from scoring.contract import EvaluatorError

COUNTED = (".safetensors", ".json", ".txt", ".model", ".tsv", ".jinja")
"""Endings of the files on which a number may depend: weights, configuration, vocabulary, chats, tables."""
TABLES = (".tsv", ".csv")
"""Endings of files that can be named alone, beside a model."""
PICKLED = (".bin", ".pt", ".pth", ".ckpt")
"""Endings of files that run code when they are loaded; they never are."""
HUB_ID = re.compile(r"(?P<repository>[\w.-]+/[\w.-]+)(@(?P<revision>[\w.-]+))?")

LARGE = 2**26
"""Bytes from which on the hash of a file is kept on disk, for all processes: a GB takes about a second."""

DIGITS = 64
"""Hex digits of a SHA-256."""

_State = tuple[Path, int, int, int, int]
_hashes: dict[_State, str] = {}


class MissingWeights(EvaluatorError):
    """The model is not on this machine, or not in a form that may be loaded; the message says what to do."""

    def __init__(self, message: str) -> None:
        super().__init__(message, permanent=True)


def weights_dir() -> Path:
    """The operator's folder of models (environment variable WEIGHTS_DIR; var/weights in the project)."""
    default = Path(__file__).resolve().parent.parent / "var" / "weights"
    return Path(os.environ.get("WEIGHTS_DIR") or default)


def locate(model: str) -> Path:
    """The folder of `model`: a path, a folder in `weights_dir()`, or a hub id, `owner/name[@revision]`.

    A table that goes with a model is a file and found in the same two places, by its ending.
    A hub id is looked up among what has been downloaded before; nothing is fetched here. Raises
    MissingWeights.
    """
    for place in places(model):
        if place.is_dir():
            return _loadable(place, model)
        if place.suffix in TABLES and place.is_file():
            return place
    if Path(model).suffix in TABLES:
        raise MissingWeights(f"There is no file {model!r}, neither from here nor in {weights_dir()}.")
    hub_id = HUB_ID.fullmatch(model)
    if hub_id is None:
        raise MissingWeights(
            f"There is no folder {model!r}, neither from here nor in {weights_dir()}, and it is no hub id "
            "(owner/name or owner/name@revision)."
        )
    downloaded = snapshot(hub_id["repository"], hub_id["revision"])
    if downloaded is None:
        raise MissingWeights(
            f"The weights {model!r} are not on this machine. Download them once with: manage.py weights "
            f"fetch {model} (needs access to huggingface.co); or copy the model's folder to "
            f"{weights_dir() / model}."
        )
    return _loadable(downloaded, model)


def places(model: str) -> tuple[Path, ...]:
    """Where `model` is looked for on this machine, in this order, before it is taken for a hub id."""
    return (Path(model).expanduser(), weights_dir() / model) if model else ()


def snapshot(repository: str, revision: str | None) -> Path | None:
    """The folder of what was downloaded from the hub, or None where that is nothing, or not complete."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    patterns = [f"*{ending}" for ending in COUNTED]
    try:
        return Path(
            snapshot_download(repository, revision=revision, local_files_only=True, allow_patterns=patterns)
        )
    except LocalEntryNotFoundError:
        return None


def is_offered(model: str) -> bool:
    """Whether `model` names something the operator put in place: in `weights_dir()`, or downloaded by hub id.

    Whoever starts runs on a page may name these and no other path of the server.
    """
    if Path(model).expanduser().is_absolute() or ".." in Path(model).parts:
        return False
    if (weights_dir() / model).exists():
        return True
    return HUB_ID.fullmatch(model) is not None and not Path(model).exists()


def locate_offered(model: str) -> Path:
    """As `locate`, for a name given on a page: no other path of the server is so much as looked for."""
    if not is_offered(model):
        raise MissingWeights(
            f"found {model!r}, expected the id of a downloaded model (owner/name) or the name of a folder or "
            "table that the operator of this server has put among the weights (WEIGHTS_DIR)."
        )
    return locate(model)


def has_chat_template(folder: Path) -> bool:
    """Whether the tokenizer of a model's folder says how a chat is put to the model."""
    if (folder / "chat_template.jinja").is_file() or (folder / "chat_template.json").is_file():
        return True
    configuration = folder / "tokenizer_config.json"
    return configuration.is_file() and bool(json.loads(configuration.read_text()).get("chat_template"))


def is_here(model: str) -> bool:
    """Whether `locate` finds the model."""
    try:
        locate(model)
    except MissingWeights:
        return False
    return True


def size(place: Path) -> int:
    """Bytes of the weights in a folder, or of one file."""
    weights = [place] if place.is_file() else place.rglob("*.safetensors")
    return sum(path.stat().st_size for path in weights)


def digest(place: Path) -> str:
    """SHA-256, 64 hex digits, over names and contents of the files that count in a folder, or of one file.

    A file is read once in a process's life, a large one once on a machine, as long as its size and times of
    change stay.
    """
    if place.is_file():
        return _file_digest(place)
    combined = hashlib.sha256()
    for path in sorted(place.rglob("*")):
        if path.suffix in COUNTED and path.is_file():
            combined.update(f"{path.relative_to(place).as_posix()}\n{_file_digest(path)}\n".encode())
    return combined.hexdigest()


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
    var = Path(os.environ.get("VAR_DIR") or Path(__file__).resolve().parent.parent / "var")
    kept = var / "hashes" / hashlib.sha256(repr(state).encode()).hexdigest()
    with suppress(OSError):
        digest = kept.read_text()
        if len(digest) == DIGITS:  # else a power cut may have left it empty
            return digest
    digest = _read_digest(state[0])
    with suppress(OSError):  # where nothing may be written, each process reads the file for itself
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=kept.parent, delete=False) as file:
            file.write(digest)
        os.chmod(file.name, 0o644)  # who fetches weights may be another user than who scores
        os.replace(file.name, kept)
    return digest


def _loadable(folder: Path, model: str) -> Path:
    if any(folder.glob("*.safetensors")):
        return folder
    if any(path.suffix in PICKLED for path in folder.iterdir()):
        raise MissingWeights(
            f"{model!r} has its weights as pickled files only, which can run code when they are loaded. "
            f"Write them anew as safetensors with: manage.py weights convert {model} --to FOLDER"
        )
    raise MissingWeights(f"The folder {folder} has no *.safetensors file, so there are no weights to load.")
