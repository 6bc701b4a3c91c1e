"""Learning curves: planned, trained one after another, scored, cancelled and resumed together."""
