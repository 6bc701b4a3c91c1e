"""Run families as experiments: what varies, and how well each member agrees with people."""
