"""Replies kept in memory where there is no database, so that a failure loses none."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field

from scoring.contract.evaluator import EvaluatorError
from scoring.contract.requests import Answering, Reply, Request


@dataclass
class KeptReplies:
    """Sends each distinct request to the model once, however often it is made."""

    model: Answering | None
    """The model that answers; None to give only kept replies."""
    kept: dict[Request, Reply] = field(default_factory=dict)

    def replies(self, requests: Sequence[Request]) -> list[Reply]:
        """Return one reply per request, in order.

        Raises EvaluatorError as the model does, and if a reply is missing and there is no model.
        """
        missing = [request for request in dict.fromkeys(requests) if request not in self.kept]
        if missing and self.model is None:
            raise EvaluatorError(f"{len(missing)} replies are missing", permanent=True)
        if missing and self.model is not None:
            with closing(self.model.arrivals(missing)) as lots:
                for lot in lots:
                    self.kept |= {missing[place]: reply for place, reply in lot}
        return [self.kept[request] for request in requests]
