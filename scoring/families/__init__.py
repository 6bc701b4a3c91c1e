"""Run families: several setups of which one thing differs, started, followed and stopped together."""
