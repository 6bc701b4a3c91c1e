"""SEAHORSE's metric and the question that its model answers."""

import pytest

from annotation.protocol import SEAHORSE
from scoring.contract.items import Item
from scoring.contract.params import read_params
from scoring.evaluators import load_evaluator
from scoring.evaluators.seahorse import QUESTIONS
from tests.scoring.t5_models import label_model


def seahorse(**settings):
    evaluator_class = load_evaluator("seahorse")
    return evaluator_class(read_params(evaluator_class, settings))


def test_dimensions_follow_the_order_of_the_questionnaire():
    assert list(QUESTIONS.values()) == [question.dimension for question in SEAHORSE.questions]


def test_question_decides_the_dimension(subtests):
    for question, dimension in QUESTIONS.items():
        with subtests.test(question=question, dimension=dimension):
            evaluator = seahorse(model=str(label_model()), question=question)
            assert evaluator.dimensions == (dimension,)
            [scored] = evaluator.score([Item("a", "The cat sat.", article="It was a good mat.")])
            assert list(scored.values) == [dimension]


@pytest.mark.parametrize(
    "model", ["google/seahorse-large-q5", "google/seahorse-xxl-q5@main", "models/seahorse-large-q5"]
)
def test_model_of_the_authors_answers_only_its_own_question(model):
    assert seahorse(model=model, question="q5").dimensions == ("main_ideas",)
    with pytest.raises(ValueError, match="parameter 'question': found 'q4', expected 'q5'"):
        seahorse(model=model)


def test_the_default_model_answers_the_default_question():
    assert seahorse().dimensions == ("attribution",)
