"""The BibTeX entries of methods, and how texts are matched to them."""

import re
from pathlib import Path

from metaeval.agreement.statistics import STATISTICS
from metaeval.export import sources
from metaeval.export.sources import NAMED_BY, entries, sources_of
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.significance.compare_pairs import TESTS
from metaeval.stats.uncertainty.intervals import INTERVALS


def test_every_source_is_a_complete_entry(subtests):
    for key, entry in entries().items():
        with subtests.test(key=key):
            assert re.match(r"@(article|inproceedings|misc)\{[\w-]+,\n", entry)
            assert entry.count("{") == entry.count("}")
            for field in ("author", "title", "year", "(pages|eprint)"):
                assert re.search(rf"\b{field} = \{{", entry), field


def test_every_entry_is_in_the_file_once_and_has_a_method():
    file = (Path(sources.__file__).parent / "sources.bib").read_text()
    assert re.findall(r"^@\w+\{([\w-]+),$", file, re.MULTILINE) == list(entries()) == list(NAMED_BY)


def test_methods_are_found_by_their_labels(subtests):
    cases = [
        (COEFFICIENTS["spearman"].label, "spearman-1904-proof"),
        (COEFFICIENTS["kendall_b"].label, "kendall-1945-ties"),
        (COEFFICIENTS["roc_auc"].label, "fawcett-2006-roc"),
        (INTERVALS["bca_articles"].label, "efron-1987-better"),
        (INTERVALS["symmetric_articles"].label, "hall-1988-symmetric"),
        (TESTS["williams"].label, "graham-baldwin-2014-testing"),
        (TESTS["perm_both"].label, "deutsch-etal-2021-statistical"),
        (COEFFICIENTS["acc_eq"].definition, "deutsch-etal-2023-ties"),
        (STATISTICS["gwet_ac"].label, "gwet-2008-computing"),
        (STATISTICS["fleiss_kappa"].label, "fleiss-1971-measuring"),
        (STATISTICS["cohen_kappa"].label, "cohen-1960-coefficient"),
        ("evaluators: ICE uniform", "jain-etal-2023-multi"),
    ]
    for text, key in cases:
        with subtests.test(text=text, key=key):
            assert any(f"{{{key}," in entry for entry in sources_of(text))


def test_similar_words_are_not_cited():
    assert sources_of("Slices of PRICE in a rice field") == []
