"""The page of one trained model: where it comes from, what it has seen, what depends on it."""

from dataclasses import dataclass

from annotation.errors import NotFound
from annotation.models import Project
from metaeval.training.page import run_address, seen_in_words
from scoring.models import RegisteredModel, Training
from scoring.training.model_uses import ModelUses, uses_of
from scoring.training.registry import model_of, registration_of, training_named
from scoring.weights.trained_models import TrainedModel


@dataclass(frozen=True)
class ModelPage:
    project: Project
    name: str
    model: TrainedModel | None
    """The installed model; None until its files were tried."""
    registration: RegisteredModel | None
    """The registration; None for a model that was trained here, or that the operator installed."""
    training: Training | None
    uses: ModelUses

    @property
    def may_change(self) -> bool:
        """Return whether the model belongs to this project without a training of its own."""
        return self.registration is not None

    @property
    def is_waiting(self) -> bool:
        return self.registration is not None and self.registration.is_unfinished

    @property
    def own_uses(self) -> int:
        """The project's evaluators with scores by the model."""
        return sum(each.project_id == self.project.pk for each in self.uses.setups)

    @property
    def seen_in_words(self) -> str:
        """Return such as "3 in training, 2 in validation"; empty if it is not known."""
        return seen_in_words(self.model)

    @property
    def run_address(self) -> str:
        return run_address(self.project.slug, self.model) if self.model else ""


def model_page(project: Project, name: str) -> ModelPage:
    """Return the page of one of the project's models. Raises NotFound."""
    registration = registration_of(project, name)
    try:
        found = model_of(project, name)
    except NotFound:
        if registration is None:
            raise
        found = None
    return ModelPage(project, name, found, registration, training_named(project, name), uses_of(name))
