"""The table of import formats, imported when they are used."""

IMPORTERS = {
    "examples": "annotation.imports.formats.examples.ExamplesImporter",
    "seahorse": "annotation.imports.formats.seahorse.SeahorseImporter",
    "summeval": "annotation.imports.formats.summeval.SummEvalImporter",
    "bartscore": "annotation.imports.formats.bartscore.BartScoreImporter",
    "ratings": "annotation.imports.formats.ratings.RatingsImporter",
    "scores": "annotation.imports.formats.scores.ScoresImporter",
    "gold": "annotation.imports.formats.gold.GoldImporter",
}
