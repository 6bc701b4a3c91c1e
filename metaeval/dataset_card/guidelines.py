"""The guidelines as a dataset's card has them."""

from annotation.models import Project


def guidelines(project: Project) -> str:
    """Return the guidelines under which the project's ratings were made, as Markdown."""
    return (
        f"Raters of {project.name} were given the wording of the questions above, and no further guidelines."
    )
