"""Forms for endpoints: address, key, limits and prices."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django import forms
from django.utils.text import capfirst

from scoring.endpoints.endpoint_admin import APIS, Prices
from scoring.endpoints.keys import LONGEST_KEY
from scoring.models import Endpoint, EndpointModel

PRICES_FORM = "prices"
"""Id of the page's form that submits the prices of all models."""


class KeyField(forms.CharField):
    """A key. No page ever shows it again, even after an error."""

    widget = forms.PasswordInput(attrs={"autocomplete": "off", "spellcheck": "false"}, render_value=False)

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=LONGEST_KEY, **options)


class PriceField(forms.DecimalField):
    """US dollars per million tokens."""

    widget = forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"})

    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, min_value=Decimal(0), max_digits=12, decimal_places=6, **options)

    def prepare_value(self, value: Any) -> Any:
        """Drop the trailing zeros that the database keeps."""
        return f"{value.normalize():f}" if isinstance(value, Decimal) else value


class EndpointForm(forms.Form):
    base_url = forms.CharField(
        label="Address",
        max_length=300,
        widget=forms.TextInput(attrs={"placeholder": "https://api.openai.com/v1", "spellcheck": "false"}),
        help_text="The base address, without /chat/completions.",
    )
    key = KeyField(
        required=False,
        help_text="Stored encrypted, never shown again. Empty: workers use their environment.",
    )


class KeyForm(forms.Form):
    key = KeyField(label="New key", help_text="Stored encrypted and never shown again.")


class LimitsForm(forms.Form):
    requests_per_minute = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=10**6,
        help_text="The endpoint's limit for all workers together. Empty: no limit.",
    )
    tokens_per_minute = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=10**9,
        help_text="Prompts and replies together. Empty: no limit.",
    )
    most_in_flight = forms.IntegerField(
        label="Concurrent requests",
        min_value=1,
        max_value=1000,
        help_text="The most requests that one worker sends at a time.",
    )

    def __init__(self, endpoint: Endpoint, data: Mapping[str, str] | None = None) -> None:
        super().__init__(data)
        self.initial = {name: getattr(endpoint, name) for name in self.fields}


class _WithPrices(forms.Form):
    input_price = PriceField(label="Prompt, $ per million tokens")
    output_price = PriceField(label="Reply, $ per million tokens")

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        given = [cleaned.get("input_price"), cleaned.get("output_price")]
        if not self.errors and given.count(None) == 1:
            lacking = "input_price" if given[0] is None else "output_price"
            self.add_error(lacking, "Enter both prices or neither. Enter 0 if it is free.")
        return cleaned

    @property
    def prices(self) -> Prices | None:
        one, two = self.cleaned_data["input_price"], self.cleaned_data["output_price"]
        return None if one is None or two is None else (one, two)


class PricesForm(_WithPrices):
    """The prices of one model of an endpoint."""

    def __init__(self, model: EndpointModel, data: Mapping[str, str] | None = None) -> None:
        prices = {"input_price": model.input_price, "output_price": model.output_price}
        super().__init__(data, initial=prices, prefix=f"model-{model.pk}")
        self.model = model
        for name, label in (("input_price", "Prompt, $"), ("output_price", "Reply, $")):
            self.fields[name].label = label
            self.fields[name].widget.attrs["form"] = PRICES_FORM


class ModelForm(_WithPrices):
    name = forms.CharField(max_length=200, label="Model", help_text="The endpoint's name for it.")
    api = forms.ChoiceField(choices=[(api, capfirst(api)) for api in APIS], label="API")
    field_order = ("name", "api", "input_price", "output_price")
    prefix = "new"
