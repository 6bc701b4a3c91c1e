"""Archives of trained models: what they hold, and what is refused."""

import hashlib
import io
import json
import shutil
import tarfile

import pytest

from scoring.texts.near_duplicates import sketch
from scoring.weights.model_archives import ArchiveRefused, install_archive, packed
from scoring.weights.model_card import ModelCard, write_card
from scoring.weights.trained_models import folder_of, trained_model
from tests.scoring.tiny_models import tiny_model

MOST = 2**24


@pytest.fixture(autouse=True)
def weights(monkeypatch, tmp_path):
    monkeypatch.setenv("WEIGHTS_DIR", str(tmp_path))


@pytest.fixture
def model():
    folder = folder_of("mine")
    folder.parent.mkdir()
    shutil.copytree(tiny_model("bert"), folder)
    weights_hash = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    articles = {"train": ("a" * 64,)}
    write_card(
        folder,
        ModelCard(
            method="counting",
            title="Mine",
            evaluator="similarity",
            dimensions=("general",),
            base_model="tiny",
            weights_sha256=weights_hash,
            articles=articles,
            measures={"validation_loss": 0.5},
        ),
    )
    (folder / "trainer.pt").write_bytes(b"left here")
    return trained_model("mine")


def archive(*files: tuple[str, bytes], kind: bytes = tarfile.REGTYPE) -> io.BytesIO:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as file:
        for name, content in files:
            entry = tarfile.TarInfo(name)
            entry.size, entry.type = len(content) if kind == tarfile.REGTYPE else 0, kind
            entry.linkname = "/etc/passwd" if kind == tarfile.SYMTYPE else ""
            file.addfile(entry, io.BytesIO(content))
    written.seek(0)
    return written


def files_of(model, **changes: bytes) -> list[tuple[str, bytes]]:
    names = [path for path in model.folder.iterdir() if path.suffix != ".pt"]
    contents = {path.name: path.read_bytes() for path in names} | changes
    return [(f"mine/{name}", content) for name, content in contents.items()]


def refused(file: io.BytesIO, most: int = MOST) -> str:
    with pytest.raises(ArchiveRefused) as caught:
        install_archive(file, "other", most)
    assert trained_model("other") is None
    assert not list(folder_of("other").parent.glob(".other*"))
    return str(caught.value)


def test_an_archive_is_a_tar_without_files_of_other_kinds(model):
    with tarfile.open(fileobj=io.BytesIO(b"".join(packed(model)))) as file:
        assert "mine/model.safetensors" in file.getnames()
        assert "mine/trainer.pt" not in file.getnames()


def test_a_packed_model_is_installed_elsewhere_as_it_was(model):
    card = install_archive(io.BytesIO(b"".join(packed(model))), "other", MOST)
    assert card == model.card
    for name in ("model.safetensors", "config.json", "touchstone.json"):
        assert (folder_of("other") / name).read_bytes() == (model.folder / name).read_bytes()


@pytest.mark.parametrize(
    "name",
    ["../evil.json", "/etc/evil.json", "mine/deep/evil.json", "mine/../../evil.json", "mine/.evil.json"],
)
def test_files_outside_of_the_folder_are_refused(model, name):
    assert "expected plain files in one folder" in refused(archive(*files_of(model), (name, b"{}")))


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_links_and_devices_are_refused(kind):
    assert "expected plain files" in refused(archive(("mine/config.json", b""), kind=kind))


@pytest.mark.parametrize("name", ["weights.bin", "trainer.pt", "model.py", "run.sh", "config"])
def test_files_of_other_kinds_are_refused(model, name):
    assert "expected files that end in" in refused(archive(*files_of(model), (f"mine/{name}", b"x")))


def test_damaged_weights_are_refused(model):
    weights = (model.folder / "model.safetensors").read_bytes()
    changed = weights[:-1] + bytes([weights[-1] ^ 1])
    assert "SHA-256" in refused(archive(*files_of(model, **{"model.safetensors": changed})))
    assert "is damaged" in refused(archive(*files_of(model, **{"model.safetensors": b"pickle"})))


def test_archives_without_card_are_refused(model):
    files = [each for each in files_of(model) if not each[0].endswith("touchstone.json")]
    assert "lacks touchstone.json" in refused(archive(*files))


@pytest.mark.parametrize(
    "wrong",
    [
        {"evaluator": ["similarity"]},
        {"warnings": [1]},
        {"measures": {"validation_loss": "low"}},
        {"intervals": {"validation_loss": ["low", "high"]}},
    ],
)
def test_a_card_with_wrong_kinds_is_refused(model, wrong):
    card = json.loads((model.folder / "touchstone.json").read_text()) | wrong
    changed = archive(*files_of(model, **{"touchstone.json": json.dumps(card).encode()}))
    assert "fields of the wrong kind" in refused(changed)


@pytest.mark.parametrize("levels", [500, 100_000])
@pytest.mark.parametrize(
    ("name", "said"), [("touchstone.json", "cannot be read"), ("config.json", "nested too deeply")]
)
def test_files_nested_too_deeply_are_refused(model, name, said, levels):
    content = (model.folder / name).read_bytes().rstrip()[:-1] + b', "data": ' + b"[" * levels
    assert said in refused(archive(*files_of(model, **{name: content + b"]" * levels + b"}"})))


@pytest.mark.parametrize("damaged", ["no Base64!", "", "AAAA", sketch("one two three four five six")[:-4]])
def test_a_card_with_damaged_sketches_is_refused(model, damaged):
    card = json.loads((model.folder / "touchstone.json").read_text()) | {"sketches": [damaged]}
    changed = archive(*files_of(model, **{"touchstone.json": json.dumps(card).encode()}))
    assert "damaged sketches of articles" in refused(changed)


def test_too_large_archives_are_refused(model):
    assert "too large" in refused(io.BytesIO(b"".join(packed(model))), most=1000)
    many = [(f"mine/{number}.json", b"{}") for number in range(60)]
    assert "at most 50 files" in refused(archive(*many))


@pytest.mark.parametrize("content", [b"", b"no tar at all" * 100, b"\x1f\x8b" + bytes(600)])
def test_what_is_no_archive_is_refused(content):
    assert refused(io.BytesIO(content))


def test_an_archive_that_ends_early_is_refused(model):
    whole = b"".join(packed(model))
    assert refused(io.BytesIO(whole[: len(whole) // 2]))
