"""A published model warns where a project has texts of the data set that it was trained on."""

import pytest

from scoring.evaluators.published_training import training_warnings


@pytest.mark.parametrize(
    ("model", "dataset"),
    [
        ("google/seahorse-large-q4", "xsum"),
        ("models/seahorse-xxl-q1", "wiki_lingua_german_de"),
        ("google/seahorse-large-q5", "xlsum_russian"),
        ("google/seahorse-large-q5", "mlsum_de"),
        ("MingZhong/unieval-sum", "cnn_dailymail"),
        ("MingZhong/unieval-sum", "CNN/DailyMail"),
        ("umse", "CNNDM"),
        ("umse", "SummEval"),
    ],
)
def test_warns_where_the_data_sets_match(model, dataset):
    [warning] = training_warnings([model], ["touchstone-demo", dataset])
    assert warning.startswith(f"{model} was trained on ")
    assert f"this project has articles of {dataset}." in warning


@pytest.mark.parametrize(
    ("model", "dataset"),
    [
        ("google/seahorse-large-q4", "cnn_dailymail"),
        ("MingZhong/unieval-sum", "xsum"),
        ("trained/umse", "cnn_dailymail"),
        ("roberta-large", "cnn_dailymail"),
        ("umse", "touchstone-demo"),
    ],
)
def test_says_nothing_of_other_models_and_data(model, dataset):
    assert list(training_warnings([model], [dataset])) == []
