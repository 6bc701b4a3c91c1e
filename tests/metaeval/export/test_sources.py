"""Publications: each is well-formed BibTeX, and named by what uses it."""

import re

import pytest

from metaeval.agreement.statistics import STATISTICS
from metaeval.export.sources import SOURCES, sources_of
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.significance.compare_pairs import TESTS
from metaeval.stats.uncertainty.intervals import INTERVALS


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.named_by)
def test_each_is_a_whole_entry(source):
    assert re.match(r"@(article|inproceedings|misc)\{[\w-]+,\n", source.bibtex)
    assert source.bibtex.count("{") == source.bibtex.count("}")
    for field in ("author", "title", "year", "(pages|eprint)"):
        assert re.search(rf"\b{field} = \{{", source.bibtex), field


def test_keys_are_unique():
    keys = [source.bibtex.partition("{")[2].partition(",")[0] for source in SOURCES]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        (COEFFICIENTS["spearman"].label, "spearman-1904-proof"),
        (COEFFICIENTS["kendall_b"].label, "kendall-1945-ties"),
        (COEFFICIENTS["roc_auc"].label, "fawcett-2006-roc"),
        (INTERVALS["bca_articles"].label, "efron-1987-better"),
        (TESTS["williams"].label, "graham-baldwin-2014-testing"),
        (TESTS["perm_both"].label, "deutsch-etal-2021-statistical"),
        (COEFFICIENTS["acc_eq"].definition, "deutsch-etal-2023-ties"),
        (STATISTICS["gwet_ac"].label, "gwet-2008-computing"),
        (STATISTICS["fleiss_kappa"].label, "fleiss-1971-measuring"),
        (STATISTICS["cohen_kappa"].label, "cohen-1960-coefficient"),
        ("evaluators: ICE uniform", "jain-etal-2023-multi"),
    ],
)
def test_a_method_is_found_by_the_name_that_the_pages_give_it(text, key):
    assert any(key in source.bibtex for source in sources_of(text))


def test_what_is_not_named_is_not_cited():
    assert sources_of("Slices of PRICE in a rice field") == []
