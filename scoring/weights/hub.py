"""Models downloaded from the Hugging Face hub, and their download. Evaluators never download."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from glob import escape
from hashlib import file_digest
from pathlib import Path
from typing import TYPE_CHECKING

from scoring.contract.evaluator import EvaluatorError
from scoring.weights.model_files import COUNTED, HUB_ID, PICKLED, first_line, weights_dir

if TYPE_CHECKING:
    from huggingface_hub.hf_api import RepoSibling

Progress = Callable[[str, int, int], None]
"""Receives the next file's name, the bytes done, and the bytes in all."""


class UnknownModel(ValueError):
    """The hub has no such model or revision, or the name is not a hub id."""


class FetchFailed(EvaluatorError):
    """The download failed or is incomplete; the message says what to do."""


def snapshots() -> Iterator[tuple[str, Path]]:
    """Yield name (owner/name, with @revision unless it is the main one) and folder of each download."""
    from huggingface_hub import CacheNotFound, scan_cache_dir

    try:
        cached = scan_cache_dir()
    except CacheNotFound:
        return
    for repository in sorted(cached.repos, key=lambda each: each.repo_id):
        if repository.repo_type != "model":
            continue
        for revision in sorted(repository.revisions, key=lambda each: each.commit_hash):
            named = sorted(revision.refs) or [revision.commit_hash]
            suffix = "" if "main" in named else f"@{named[0]}"
            yield repository.repo_id + suffix, revision.snapshot_path


def fetch(model: str, *, pickled: bool = False, progress: Progress | None = None) -> Path:
    """Download `model`, owner/name[@revision], and return its folder; existing files are kept.

    Weights come as safetensors, with configuration, vocabulary and tables; pickled weights, which must be
    converted before use, only with `pickled`. Large files are checked against the hub's hashes. `progress`
    replaces the library's progress bars. Raises UnknownModel and FetchFailed.
    """
    from huggingface_hub import HfApi, snapshot_download
    from huggingface_hub.utils import disable_progress_bars

    if progress:
        disable_progress_bars()
    hub_id = HUB_ID.fullmatch(model)
    if hub_id is None:
        raise UnknownModel(f"{model!r} is not a hub id; expected owner/name or owner/name@revision")
    repository, revision = hub_id["repository"], hub_id["revision"]
    with _explained(model):
        info = HfApi().model_info(repository, revision=revision, files_metadata=True)
        files = _wanted(model, info.siblings or [], pickled)
        total, done = sum(each.size or 0 for each in files), 0
        for each in files:
            if progress:
                progress(each.rfilename, done, total)
            folder = snapshot_download(repository, revision=revision, allow_patterns=[escape(each.rfilename)])
            _check(Path(folder) / each.rfilename, each)
            done += each.size or 0
        if progress:
            progress("all files", done, total)
        endings = (*COUNTED, *PICKLED) if pickled else COUNTED
        return Path(
            snapshot_download(
                repository, revision=revision, allow_patterns=[f"*{ending}" for ending in endings]
            )
        )


@contextmanager
def _explained(model: str) -> Iterator[None]:
    """Raise the library's errors as UnknownModel and FetchFailed, with messages that say what to do."""
    from huggingface_hub.errors import (
        GatedRepoError,
        HFValidationError,
        HTTPError,
        OfflineModeIsEnabled,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    repository, _, revision = model.partition("@")
    try:
        yield
    except GatedRepoError as error:
        raise FetchFailed(
            f"{model} requires you to accept its terms. Accept them on its page on the hub, set the "
            "environment variable HF_TOKEN to a token of that account, and try again.",
            permanent=True,
        ) from error
    except RevisionNotFoundError as error:
        raise UnknownModel(f"the hub has no revision {revision!r} of {repository}") from error
    except (RepositoryNotFoundError, HFValidationError) as error:
        raise UnknownModel(
            f"the hub has no model {repository}, or it is private; for a private model, set HF_TOKEN"
        ) from error
    except OfflineModeIsEnabled as error:
        raise FetchFailed(
            "The environment variable HF_HUB_OFFLINE forbids downloads. Unset it and try again.",
            permanent=True,
        ) from error
    except (HTTPError, OSError) as error:
        raise FetchFailed(
            f"{model} could not be downloaded: {first_line(error)}. Check the connection to the hub "
            "(HF_ENDPOINT, HTTPS_PROXY) and the disk space, and fetch again: what has arrived is kept. Or "
            "copy the model's folder from another machine into WEIGHTS_DIR.",
            permanent=False,
        ) from error


def _wanted(model: str, files: "Sequence[RepoSibling]", pickled: bool) -> "list[RepoSibling]":
    names = [each.rfilename for each in files]
    if not pickled and not any(name.endswith(".safetensors") for name in names):
        pickles = [name for name in names if name.endswith(PICKLED)]
        raise FetchFailed(
            f"{model} has its weights as pickled files only ({', '.join(pickles)}), which can run code when "
            f"they are loaded. Fetch them with --pickled, then convert them with: manage.py weights "
            f"convert {model} --to {weights_dir() / model}"
            if pickles
            else f"{model} has no weights: no *.safetensors and no pickled files.",
            permanent=True,
        )
    return [each for each in files if each.rfilename.endswith((*COUNTED, *PICKLED) if pickled else COUNTED)]


def _check(path: Path, stated: "RepoSibling") -> None:
    if stated.lfs is None:
        return
    with path.open("rb") as file:
        found = file_digest(file, "sha256").hexdigest()
    if found != stated.lfs.sha256:
        path.resolve().unlink()
        path.unlink(missing_ok=True)
        raise FetchFailed(
            f"{stated.rfilename} arrived damaged: its SHA-256 is {found}, the hub states "
            f"{stated.lfs.sha256}. It was deleted; fetch again.",
            permanent=False,
        )
