"""Replies kept in memory, where there is no database: what has come is not asked again after a failure."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field

from scoring.asking.request import Answering, Reply, Request
from scoring.contract import EvaluatorError


@dataclass
class KeptReplies:
    """An Asking that asks a model once for each request, however often it is asked itself."""

    model: Answering | None
    """None: nobody is asked any more."""
    kept: dict[Request, Reply] = field(default_factory=dict)

    def replies(self, requests: Sequence[Request]) -> list[Reply]:
        """Raises EvaluatorError where the model does, and where nobody is asked for what is missing."""
        missing = [request for request in dict.fromkeys(requests) if request not in self.kept]
        if missing and self.model is None:
            raise EvaluatorError(f"{len(missing)} replies are missing", permanent=True)
        if missing and self.model is not None:
            with closing(self.model.arrivals(missing)) as lots:
                for lot in lots:
                    self.kept |= {missing[place]: reply for place, reply in lot}
        return [self.kept[request] for request in requests]
