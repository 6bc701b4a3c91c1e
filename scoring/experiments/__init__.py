"""Experiments: setups that differ in one setting, started, followed and cancelled together."""
