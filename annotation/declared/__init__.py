"""Declared settings: the parameters of evaluators and the options of import formats."""
