"""Learning curves: trainings on growing shares, and how well their models agree with people."""
