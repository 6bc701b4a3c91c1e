"""The worked examples in the docstrings."""

import doctest
import importlib
import pkgutil

import pytest

import metaeval.stats

MODULES = [module.name for module in pkgutil.walk_packages(metaeval.stats.__path__, "metaeval.stats.")]


@pytest.mark.parametrize("module", MODULES)
def test_worked_examples_come_out_as_written(module):
    assert doctest.testmod(importlib.import_module(module)).failed == 0
