"""The models that a project may use: all of the operator's, its own, and none of other projects."""

from pathlib import Path

from annotation.models import Project
from scoring.models import RegisteredModel, Training
from scoring.weights.installed import installed, tables
from scoring.weights.model_files import TRAINED, MissingWeights, locate_offered, places, shortened


def names_of_others(project: Project) -> set[str]:
    """Return the names of the trained models that belong to other projects."""
    return {
        name
        for owners in (Training.objects, RegisteredModel.objects)
        for name in owners.exclude(project=project).values_list("name", flat=True)
    }


def models_on_offer(project: Project) -> list[str]:
    """Return the usable models on this machine that the project may use, as parameters name them."""
    others = names_of_others(project)
    return [each.model for each in installed() if each.is_usable and _trained_name(each.model) not in others]


def tables_on_offer(project: Project) -> list[str]:
    """Return the names of the tables beside models that the project may use."""
    others = names_of_others(project)
    return [each for each in tables() if _trained_name(each) not in others]


def locate_for(project: Project, model: str) -> Path:
    """Return what `locate_offered` does, for a model that the project may use.

    Raises MissingWeights. It says the same of another project's model as of one that does not exist.
    """
    name = _trained_name(model)
    if name is not None and (name in names_of_others(project) or not places(f"{TRAINED}/{name}")):
        raise MissingWeights(
            f"This project has no trained model {shortened(model)!r}. It may have been deleted or renamed, "
            "or belong to another project. The page Training lists the models of this one."
        )
    return locate_offered(model)


def _trained_name(model: str) -> str | None:
    """Return the name of the trained model that a path below WEIGHTS_DIR belongs to, if it does."""
    parts = Path(model).parts
    return parts[1] if len(parts) > 1 and parts[0] == TRAINED else None
