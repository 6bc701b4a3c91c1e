"""What a manager writes about endpoints: addresses, keys, limits and prices."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django import forms

from scoring.endpoints.keys import LONGEST_KEY
from scoring.endpoints.managing import APIS, Prices
from scoring.models import Endpoint, EndpointModel

PRICES_FORM = "prices"
"""Id of the form in the page that the prices of all models are sent with."""


class KeyField(forms.CharField):
    """A key, which no page ever gives back, not even to the person who has just typed it."""

    widget = forms.PasswordInput(attrs={"autocomplete": "off", "spellcheck": "false"}, render_value=False)

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=LONGEST_KEY, **options)


class PriceField(forms.DecimalField):
    """US dollars for a million tokens."""

    widget = forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"})

    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, min_value=Decimal(0), max_digits=12, decimal_places=6, **options)

    def prepare_value(self, value: Any) -> Any:
        """As a person writes it: without the zeros that the database keeps."""
        return f"{value.normalize():f}" if isinstance(value, Decimal) else value


class EndpointForm(forms.Form):
    base_url = forms.CharField(
        label="Address",
        max_length=300,
        widget=forms.TextInput(attrs={"placeholder": "https://api.openai.com/v1", "spellcheck": "false"}),
        help_text="Without /chat/completions at its end. It is what a run's form calls base url.",
    )
    key = KeyField(
        required=False,
        help_text="Kept encrypted and never shown again. Empty: workers take it from their environment.",
    )

    def __init__(self, data: Mapping[str, str] | None = None) -> None:
        super().__init__(data, label_suffix="")


class KeyForm(forms.Form):
    key = KeyField(label="New key", help_text="Kept encrypted, and never shown again.")

    def __init__(self, data: Mapping[str, str] | None = None) -> None:
        super().__init__(data, label_suffix="")


class LimitsForm(forms.Form):
    requests_per_minute = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=10**6,
        help_text="Of all workers together, as the endpoint allows them. Empty: no limit known.",
    )
    tokens_per_minute = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=10**9,
        help_text="Of prompts and replies. Empty: no limit known.",
    )
    most_in_flight = forms.IntegerField(
        min_value=1, max_value=1000, help_text="Requests that one worker has under way at most."
    )

    def __init__(self, endpoint: Endpoint, data: Mapping[str, str] | None = None) -> None:
        super().__init__(data, label_suffix="")
        self.initial = {name: getattr(endpoint, name) for name in self.fields}


class _WithPrices(forms.Form):
    input_price = PriceField(label="Prompt, $ per million tokens")
    output_price = PriceField(label="Reply, $ per million tokens")

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        given = [cleaned.get("input_price"), cleaned.get("output_price")]
        if not self.errors and given.count(None) == 1:
            lacking = "input_price" if given[0] is None else "output_price"
            self.add_error(lacking, "Give both prices or none; 0 if it is free.")
        return cleaned

    @property
    def prices(self) -> Prices | None:
        one, two = self.cleaned_data["input_price"], self.cleaned_data["output_price"]
        return None if one is None or two is None else (one, two)


class PricesForm(_WithPrices):
    """The prices of one model among those of its endpoint."""

    def __init__(self, model: EndpointModel, data: Mapping[str, str] | None = None) -> None:
        prices = {"input_price": model.input_price, "output_price": model.output_price}
        super().__init__(data, initial=prices, prefix=f"model-{model.pk}", label_suffix="")
        self.model = model
        for name, label in (("input_price", "Prompt, $"), ("output_price", "Reply, $")):
            self.fields[name].label = label
            self.fields[name].widget.attrs["form"] = PRICES_FORM


class ModelForm(_WithPrices):
    name = forms.CharField(max_length=200, label="Model", help_text="As the endpoint calls it.")
    api = forms.ChoiceField(choices=[(api, api) for api in APIS], label="API")
    field_order = ("name", "api", "input_price", "output_price")

    def __init__(self, data: Mapping[str, str] | None = None) -> None:
        super().__init__(data, prefix="new", label_suffix="")
