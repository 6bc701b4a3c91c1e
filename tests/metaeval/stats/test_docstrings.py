"""Worked examples in docstrings."""

import doctest
import importlib
import pkgutil

import metaeval.stats

MODULES = [module.name for module in pkgutil.walk_packages(metaeval.stats.__path__, "metaeval.stats.")]


def test_worked_examples_give_the_documented_results(subtests):
    for module in MODULES:
        with subtests.test(module=module):
            assert doctest.testmod(importlib.import_module(module)).failed == 0
