from django.apps import AppConfig


class MetaevalConfig(AppConfig):
    name = "metaeval"

    def ready(self) -> None:
        from annotation.exports.formats import register

        register("dataset", "metaeval.dataset_card.exporter.DatasetExporter")
