"""The table of export formats, imported when they are used."""

EXPORTERS = {
    "ratings": "annotation.exports.formats.ratings.RatingsExporter",
    "seahorse": "annotation.exports.formats.seahorse.SeahorseExporter",
    "summeval": "annotation.exports.formats.summeval.SummEvalExporter",
    "examples": "annotation.exports.formats.examples.ExamplesExporter",
    "adjudications": "annotation.exports.formats.adjudications.AdjudicationsExporter",
    "gold": "annotation.exports.formats.gold.GoldExporter",
}
"""Name of the format -> its class. Apps above add theirs by `register` when they are ready."""


def register(name: str, place: str) -> None:
    """Add a format of an app that imports from this one, whose class is at this dotted place."""
    EXPORTERS[name] = place
