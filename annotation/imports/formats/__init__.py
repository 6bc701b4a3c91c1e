"""The table of import formats, imported when they are used."""

IMPORTERS = {
    "seahorse": "annotation.imports.formats.seahorse.Seahorse",
    "summeval": "annotation.imports.formats.summeval.SummEval",
    "bartscore": "annotation.imports.formats.bartscore.BartScore",
    "examples": "annotation.imports.formats.examples.Examples",
    "ratings": "annotation.imports.formats.ratings.Ratings",
    "scores": "annotation.imports.formats.scores.Scores",
    "gold": "annotation.imports.formats.gold.Gold",
}
