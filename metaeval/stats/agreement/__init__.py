"""Statistics of raters' agreement with each other."""
