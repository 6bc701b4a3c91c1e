"""What a project knows of the models that its judges ask."""

from scoring.asking.addresses import same_address
from scoring.asking.request import Address
from scoring.asking_evaluator import AskingEvaluator
from scoring.evaluators import load_evaluator
from scoring.models import Endpoint, EndpointModel, SetUp
from scoring.params import read_params


def address_of(setup: SetUp) -> Address | None:
    """Where runs of the setup ask; None where they ask no endpoint.

    Raises UnknownEvaluator and ValueError where this version does not have it.
    """
    evaluator_class = load_evaluator(setup.evaluator)
    evaluator = evaluator_class(read_params(evaluator_class, setup.params))
    return evaluator.address if isinstance(evaluator, AskingEvaluator) else None


def known_model(project_id: int, address: Address) -> EndpointModel | None:
    """The project's row for the model at this address through this API; None where it has none yet."""
    return (
        EndpointModel.objects.select_related("endpoint")
        .filter(
            endpoint__project=project_id,
            endpoint__base_url=same_address(address.base_url),
            name=address.model,
            api=address.api,
        )
        .first()
    )


def model_at(project_id: int, address: Address) -> EndpointModel:
    """The project's row for the model at this address through this API, made if need be."""
    endpoint, _ = Endpoint.objects.get_or_create(
        project_id=project_id, base_url=same_address(address.base_url)
    )
    model, _ = EndpointModel.objects.select_related("endpoint").get_or_create(
        endpoint=endpoint, name=address.model, api=address.api
    )
    return model
