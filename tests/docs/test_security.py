"""docs/security.md names only tests that exist."""

import ast

from tests.conftest import ROOT
from tests.docs.test_architecture import NAMED, definitions


def test_every_attack_names_a_test_that_tries_it():
    page = (ROOT / "docs" / "security.md").read_text()
    rows = page.partition("| attack |")[2].partition("\n\n")[0].splitlines()[2:]
    assert len(rows) > 15
    assert [row for row in rows if not NAMED.search(row)] == []
    named = NAMED.findall("\n".join(rows))
    assert [
        (path, test)
        for path, test in named
        if test not in definitions(ast.parse((ROOT / path).read_text()).body)
    ] == []
