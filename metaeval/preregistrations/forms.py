"""The form of a preregistration."""

from typing import Any

from django import forms
from django.utils.text import capfirst

from annotation.models import Project
from metaeval.models import Preregistration
from metaeval.preregistrations.registering import LONGEST_NOTE, Statement
from metaeval.snapshot.arrays import ALL
from metaeval.snapshot.snapshot import snapshot_of
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.method import Method
from scoring.models import Setup


class PreregistrationForm(forms.Form):
    """A claim about two of the project's evaluators."""

    first = forms.ChoiceField(label="Evaluator")
    claim = forms.ChoiceField(label="Claim", choices=Preregistration.Claim.choices)
    second = forms.ChoiceField(label="The other evaluator")
    margin = forms.FloatField(
        label="Margin",
        required=False,
        min_value=0,
        help_text="The loss that still counts as good, in units of the coefficient, such as 0.02. Leave it"
        " empty for 'is better than'.",
    )
    question = forms.ChoiceField(label="Question")
    level = forms.ChoiceField(choices=[(name, each.label) for name, each in LEVELS.items()])
    coefficient = forms.ChoiceField(
        choices=[(name, each.label) for name, each in COEFFICIENTS.items()], initial=Method.coefficient
    )
    language = forms.ChoiceField(label="Language")
    group = forms.ChoiceField(label="Raters", required=False)
    note = forms.CharField(
        label="Note",
        required=False,
        max_length=LONGEST_NOTE,
        widget=forms.Textarea({"rows": 2}),
        help_text="The reasons for your expectation, for example. Readers of published results see them.",
    )

    def __init__(self, project: Project, data: Any = None) -> None:
        super().__init__(data, label_suffix="")
        evaluators = list(Setup.objects.filter(project=project).values_list("pk", "label"))
        snapshot = snapshot_of(project)
        choices: dict[str, list[tuple[Any, Any]]] = {
            "first": evaluators,
            "second": evaluators,
            "question": list(project.questionnaire.questions.values_list("key", "title")),
            "language": [(ALL, "all"), *((each, each) for each in snapshot.summaries.language_names)],
            "group": [("", "all"), *((each, each) for each in snapshot.human.groups)],
        }
        for name, offered in choices.items():
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = offered
        if not snapshot.human.groups:
            del self.fields["group"]
        if len(evaluators) > 1:
            self.initial["second"] = evaluators[1][0]

    @property
    def has_evaluators(self) -> bool:
        """Return whether there are two evaluators to compare."""
        return len(list(self["first"].subwidgets)) > 1

    @property
    def statement(self) -> Statement:
        """Return the statement of a valid form."""
        given = self.cleaned_data
        return Statement(
            given["claim"],
            int(given["first"]),
            int(given["second"]),
            given["question"],
            given["level"],
            given["coefficient"],
            given["margin"] or 0.0,
            given["language"],
            given.get("group", ""),
            given["note"],
        )

    def refuse(self, message: str) -> None:
        """Show an error beside the field that it names, else above the form."""
        name, _, words = message.partition(": ")
        if name in self.fields:
            self.add_error(name, capfirst(words))
        else:
            self.add_error(None, message)
