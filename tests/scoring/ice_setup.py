"""A labelled pool, an item, and ICE fitted to the pool."""

from scoring.contract.items import Item, PoolExample
from scoring.contract.params import read_params
from scoring.evaluators import load_evaluator

POOL = [
    PoolExample(
        f"{article}-{system}",
        f"a{article}",
        f"Summary {system} of article {article}.",
        {"consistency": article / 20, "fluency": 0.5, "relevance": 1.0},
        f"Text of article {article}.",
        (" ", f"Reference of article {article}.", "Another reference."),
    )
    for article in range(12)
    for system in range(3)
]
ITEM = Item("x", "The cat\nsat.", article="A cat  sat on a mat.", references=("A cat sat.",), article_id="ax")


def params(**settings):
    return read_params(load_evaluator("ice"), {"model": "scripted", **settings})


def ice(endpoint=None, pool=POOL, **settings):
    if endpoint:
        settings["base_url"] = endpoint.base_url
    evaluator = load_evaluator("ice")(params(**settings))
    evaluator.fit(pool)
    return evaluator
