"""What the tests over every evaluator set: the parameters without which it cannot be set up, and others."""

from collections.abc import Callable

from tests.scoring.tiny_models import tiny_model


def model(kind: str, head: str = "") -> Callable[[], str]:
    return lambda: str(tiny_model(kind, head))


REQUIRED: dict[str, dict[str, Callable[[], str]]] = {
    "ice": {"model": lambda: "scripted"},
    "similarity": {"model": model("bert")},
}
"""Evaluator -> parameter -> what gives its value; only what has no default that serves here."""

OTHER: dict[str, dict[str, Callable[[], str]]] = {
    "ice": {
        "model": lambda: "another",
        "base_url": lambda: "http://127.0.0.1:9/v1",
        "api_key_env": lambda: "ANOTHER_API_KEY",
        "dimensions": lambda: "consistency",
        "sees": lambda: "relevance=article",
    },
    "similarity": {"model": model("roberta")},
}
"""Evaluator -> parameter that is a free text or a list -> what gives a second valid value."""


def required(evaluator: str) -> dict[str, str]:
    return {name: value() for name, value in REQUIRED.get(evaluator, {}).items()}


def other_text(evaluator: str, parameter: str) -> str:
    return OTHER[evaluator][parameter]()
