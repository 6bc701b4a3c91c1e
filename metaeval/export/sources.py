"""The publications behind the methods, for the reference list of a paper."""

import re
from functools import cache
from pathlib import Path

NAMED_BY = {
    "clark-etal-2023-seahorse": r"SEAHORSE",
    "fabbri-etal-2021-summeval": r"SummEval",
    "lin-2004-rouge": r"ROUGE",
    "jain-etal-2023-multi": r"\bICE\b",
    "spearman-1904-proof": r"Spearman",
    "kendall-1945-ties": r"Kendall",
    "fawcett-2006-roc": r"ROC AUC",
    "hayes-krippendorff-2007-answering": r"Krippendorff",
    "gwet-2008-computing": r"Gwet",
    "fleiss-1971-measuring": r"Fleiss",
    "cohen-1960-coefficient": r"Cohen",
    "dawid-skene-1979-maximum": r"Dawid",
    "deutsch-etal-2023-ties": r"acc_eq",
    "deutsch-etal-2021-statistical": r"Deutsch|[Rr]esampl|[Bb]ootstrap|PERM-",
    "efron-1987-better": r"BCa|Efron",
    "hall-1988-symmetric": r"[Ss]ymmetric bootstrap",
    "graham-baldwin-2014-testing": r"Williams",
    "holm-1979-simple": r"Holm",
    "benjamini-hochberg-1995-controlling": r"Benjamini",
    "waudbysmith-etal-2024-time": r"[Aa]lways-valid interval",
    "wang-ramdas-2024-anytime": r"[Aa]lways-valid",
    "wang-ramdas-2022-false": r"always-valid .*Benjamini",
    "schuirmann-1987-comparison": r"Schuirmann",
    "calderon-etal-2025-alternative": r"[Aa]lternative annotator test",
    "paule-mandel-1982-consensus": r"Paule",
    "hartung-knapp-2001-tests": r"Hartung",
    "inthout-etal-2016-plea": r"Prediction: the 95%",
    "higgins-thompson-2002-quantifying": r"Higgins",
    "angelopoulos-etal-2023-prediction": r"[Pp]rediction-powered",
    "angelopoulos-etal-2023-ppi": r"PPI\+\+",
}
"""Keys of the entries in sources.bib, and regular expressions that find their methods in a text."""


def sources_of(text: str) -> list[str]:
    """Return the BibTeX entries of the methods that a text names, in the order of the file."""
    return [entry for key, entry in entries().items() if re.search(NAMED_BY[key], text)]


@cache
def entries() -> dict[str, str]:
    """Return the entries of sources.bib by key."""
    text = Path(__file__).with_suffix(".bib").read_text(encoding="utf-8")
    return {entry.partition("{")[2].partition(",")[0]: entry for entry in text.strip().split("\n\n")}
