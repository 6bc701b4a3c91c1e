"""The table of import formats. Nothing is imported before it is used."""

IMPORTERS = {
    "seahorse": "annotation.importers.seahorse.Seahorse",
    "summeval": "annotation.importers.summeval.SummEval",
    "bartscore": "annotation.importers.bartscore.BartScore",
    "examples": "annotation.importers.examples.Examples",
    "ratings": "annotation.importers.ratings.Ratings",
    "scores": "annotation.importers.scores.Scores",
    "gold": "annotation.importers.gold.Gold",
}
