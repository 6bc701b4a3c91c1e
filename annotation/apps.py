from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"

    def ready(self) -> None:
        from annotation.interface_language import choice  # noqa: F401 - listens to sign-ins
        from annotation.people import (
            api_tokens,  # noqa: F401 - listens to saved accounts
            own_sessions,  # noqa: F401 - listens to sign-ins
        )
        from annotation.web import deployment  # noqa: F401 - registers its check
