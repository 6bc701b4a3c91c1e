"""What every test may ask for."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data and golden numbers beside the checkout; users do not have it."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("needs the folder shared/ beside the checkout: real ratings and golden numbers")
    return folder
