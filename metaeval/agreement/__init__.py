"""Agreement between raters: report, page and what they are made of."""
