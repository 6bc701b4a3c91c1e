"""Learning curves: agreement of trained models with people by the number of training examples."""
