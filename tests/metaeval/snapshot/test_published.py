"""Names of setups in published results."""

from metaeval.snapshot.published import public_name
from scoring.contract.params import joined, read_params
from scoring.evaluators import load_evaluator


def test_names_that_evaluators_give_themselves_are_published_without_endpoint_and_key_variable():
    given = {"model": "m-1", "base_url": "https://gpu7.lab.example:8000/v1", "api_key_env": "LAB_API_KEY"}
    ice = load_evaluator("ice")
    label = joined(ice(read_params(ice, {**given, "mode": "samples"})).name_parts())
    assert "gpu7.lab.example" in label
    assert public_name(label) == "ICE, 4 examples, m-1, mean of samples"
    assert public_name(f"Jury of {label} + ROUGE-1") == (
        "Jury of ICE, 4 examples, m-1, mean of samples + ROUGE-1"
    )
