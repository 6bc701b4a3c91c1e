"""The Hugging Face hub: what has been downloaded from it, and downloading, which no evaluator does."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from glob import escape
from hashlib import file_digest
from pathlib import Path
from typing import TYPE_CHECKING

from scoring.contract import EvaluatorError
from scoring.weights import COUNTED, HUB_ID, PICKLED

if TYPE_CHECKING:
    from huggingface_hub.hf_api import RepoSibling

Progress = Callable[[str, int, int], None]
"""Told which file comes next, and how many bytes are there of how many."""


class UnknownModel(ValueError):
    """The hub has no such model or revision, or the name is no hub id."""


class FetchFailed(EvaluatorError):
    """The model was not downloaded, or not whole; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One revision of a model as it was downloaded."""

    model: str
    """The name by which parameters find it: owner/name, with @revision unless it is the main one."""
    folder: Path


def snapshots() -> Iterator[Snapshot]:
    """Everything that was downloaded from the hub, in the order of names."""
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
            yield Snapshot(repository.repo_id + suffix, revision.snapshot_path)


def fetch(model: str, *, pickled: bool = False, progress: Progress | None = None) -> Path:
    """Download `model`, owner/name[@revision], and return its folder; what is there already is kept.

    Weights come as safetensors, with configuration, vocabulary and tables; pickled weights, which serve for
    nothing but to be converted, only with `pickled`. Large files are held to the hash that the hub states.
    With `progress` it stands for the bars that the library draws. Raises UnknownModel and FetchFailed.
    """
    from huggingface_hub import HfApi, snapshot_download
    from huggingface_hub.utils import disable_progress_bars

    if progress:
        disable_progress_bars()
    hub_id = HUB_ID.fullmatch(model)
    if hub_id is None:
        raise UnknownModel(f"{model!r} is no hub id; expected owner/name or owner/name@revision")
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
    """What the library raises as UnknownModel and FetchFailed, in words that say what to do."""
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
            f"{model} is given out only to those who accepted its terms: do so at its page on the hub, then "
            "set the environment variable HF_TOKEN to a token of that account and try again.",
            permanent=True,
        ) from error
    except RevisionNotFoundError as error:
        raise UnknownModel(f"the hub has no revision {revision!r} of {repository}") from error
    except (RepositoryNotFoundError, HFValidationError) as error:
        raise UnknownModel(
            f"the hub has no model {repository}, or it is private; for a private one, set HF_TOKEN"
        ) from error
    except OfflineModeIsEnabled as error:
        raise FetchFailed(
            "The environment variable HF_HUB_OFFLINE forbids downloads; unset it to fetch.", permanent=True
        ) from error
    except (HTTPError, OSError) as error:
        raise FetchFailed(
            f"{model} could not be downloaded: {_in_short(error)}. Is there a way to the hub from here "
            "(HF_ENDPOINT, HTTPS_PROXY) and room on the disk? What has arrived is kept, and fetching again "
            "goes on from there. Or copy the folder of the model from another machine into WEIGHTS_DIR.",
            permanent=False,
        ) from error


def _wanted(model: str, files: "Sequence[RepoSibling]", pickled: bool) -> "list[RepoSibling]":
    names = [each.rfilename for each in files]
    if not pickled and not any(name.endswith(".safetensors") for name in names):
        pickles = [name for name in names if name.endswith(PICKLED)]
        raise FetchFailed(
            f"{model} has its weights as pickled files only ({', '.join(pickles)}), which can run code when "
            f"they are loaded. Fetch them with --pickled, then write them anew with: manage.py weights "
            f"convert {model} --to FOLDER"
            if pickles
            else f"{model} has no weights, neither *.safetensors nor pickled ones.",
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


def _in_short(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
