import shutil
from collections import namedtuple

import psutil
import pytest

from scoring.neural.device import device
from scoring.trainers import resources
from scoring.trainers.contract import CannotTrain
from scoring.trainers.resources import check_resources, free_memory, numbers_in
from scoring.weights.model_files import MissingWeights
from tests.scoring.tiny_models import tiny_model


@pytest.fixture(scope="module")
def base():
    return tiny_model("bert")


def test_the_numbers_of_a_model_are_counted_without_loading_it(base):
    assert numbers_in(base) * 4 == pytest.approx((base / "model.safetensors").stat().st_size, rel=0.05)


def test_a_training_that_fits_is_not_refused(base, tmp_path):
    check_resources(base, tmp_path, trains_all=True)


def test_too_little_memory_is_refused_unless_few_weights_are_trained(base, tmp_path, monkeypatch):
    if device().type == "cuda":
        pytest.skip("has a GPU")
    free = namedtuple("Memory", "available")(numbers_in(base) * 8)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: free)
    with pytest.raises(CannotTrain, match=r"of memory.*Choose a smaller model, or LoRA"):
        check_resources(base, tmp_path, trains_all=True)
    check_resources(base, tmp_path, trains_all=False)


LIMITS = {
    "version 2": {
        "memory.max": "5000\n",
        "memory.current": "3000\n",
        "memory.stat": "anon 1000\ninactive_file 500\n",
    },
    "version 1": {
        "memory/memory.limit_in_bytes": "5000\n",
        "memory/memory.usage_in_bytes": "3000\n",
        "memory/memory.stat": "inactive_file 1\ntotal_inactive_file 500\n",
    },
    "no limit, version 2": {
        "memory.max": "max\n",
        "memory.current": "3000\n",
        "memory.stat": "inactive_file 500\n",
    },
    "no limit, version 1": {
        "memory/memory.limit_in_bytes": "9223372036854771712\n",
        "memory/memory.usage_in_bytes": "3000\n",
        "memory/memory.stat": "total_inactive_file 500\n",
    },
}


@pytest.mark.parametrize(
    ("files", "available", "free"),
    [
        ("version 2", 10_000, 2500),
        ("version 1", 10_000, 2500),
        ("version 2", 2000, 2000),
        ("no limit, version 2", 10_000, 10_000),
        ("no limit, version 1", 10_000, 10_000),
    ],
)
def test_the_free_memory_is_the_containers_where_that_is_less(tmp_path, monkeypatch, files, available, free):
    for name, content in LIMITS[files].items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    monkeypatch.setattr(resources, "CGROUPS", tmp_path)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: namedtuple("Memory", "available")(available))
    assert free_memory() == free


def test_too_small_a_disk_is_refused(base, tmp_path, monkeypatch):
    found = namedtuple("Disk", "free")(numbers_in(base) * 12)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: found)
    with pytest.raises(CannotTrain, match="Checkpoints and result need about"):
        check_resources(base, tmp_path, trains_all=True)
    check_resources(base, tmp_path, trains_all=False)


def test_damaged_weights_are_refused(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"damaged")
    with pytest.raises(MissingWeights, match="cannot be read"):
        numbers_in(tmp_path)
