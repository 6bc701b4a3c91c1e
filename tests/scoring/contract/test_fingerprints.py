import math

import pytest

from scoring.contract.fingerprints import fingerprint, identity, signature
from scoring.contract.seen import Seen
from tests.scoring.contract.test_evaluator import Loudness, pool_example


def test_signature_has_all_parameters_and_the_version():
    assert signature(Loudness(Loudness.Params())) == "loudness|share:no|weight:1|v:2"


def test_fingerprint_is_a_stable_sha256():
    one, two = (fingerprint(Loudness(Loudness.Params())) for _ in range(2))
    assert one == two
    assert len(bytes.fromhex(one)) == 32


def test_version_parameters_provenance_and_pool_change_the_fingerprint():
    class Newer(Loudness):
        version = 3

    class Informed(Loudness):
        def provenance(self):
            return {"weights": "sha256:1"}

    fitted = Loudness(Loudness.Params())
    fitted.seen = Seen.of([pool_example()])
    variants = [
        Loudness(Loudness.Params()),
        Loudness(Loudness.Params(share=True)),
        Newer(Newer.Params()),
        Informed(Informed.Params()),
        fitted,
    ]
    assert len({fingerprint(each) for each in variants}) == len(variants)
    assert identity(fitted)["pool"] == {"examples": ["e1"], "sha256": fitted.seen.digest}
    assert signature(fitted) == f"loudness|share:no|weight:1|pool:{fitted.seen.digest[:8]}|v:2"


def test_provenance_with_nan_is_refused():
    class Broken(Loudness):
        def provenance(self):
            return {"share": math.nan}

    with pytest.raises(ValueError, match="not JSON compliant"):
        fingerprint(Broken(Broken.Params()))
