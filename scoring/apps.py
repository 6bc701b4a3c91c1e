from django.apps import AppConfig


class ScoringConfig(AppConfig):
    name = "scoring"

    def ready(self) -> None:
        from annotation.exports.formats import register
        from scoring.workers import worker_signals  # noqa: F401 - connects its receivers

        register("scores", "scoring.runs.score_export.ScoresExporter")
