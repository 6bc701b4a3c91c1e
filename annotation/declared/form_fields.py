"""A form field for each kind of declared setting."""

from typing import Any

from django import forms
from django.utils.text import capfirst

from annotation.declared.settings import Setting, value_as_text

LONGEST_TEXT = 500  # characters


def setting_field(setting: Setting, suggestions: str = "") -> forms.Field:
    """Return the form field of a setting. `suggestions` is the id of a datalist for a text."""
    common: dict[str, Any] = {
        "label": setting.label,
        "help_text": setting.help,
        "required": setting.required,
        "initial": None if setting.required else setting.default,
    }
    if setting.type == "yes/no":
        return forms.BooleanField(**{**common, "required": False})
    if setting.type == "integer" and not setting.choices:
        low, high = (None if bound is None else int(bound) for bound in (setting.low, setting.high))
        return forms.IntegerField(min_value=low, max_value=high, **common)
    if setting.type == "number" and not setting.choices:
        return forms.FloatField(min_value=setting.low, max_value=setting.high, **common)
    if setting.one_per_line:
        common["initial"] = "\n".join(setting.default)
        common["help_text"] += " One per line."
        return forms.CharField(widget=forms.Textarea(attrs={"rows": 3}), **common)
    common["initial"] = None if setting.required else value_as_text(setting.default)
    if setting.choices:
        choices = [(value_as_text(value), capfirst(words)) for value, words in setting.choices.items()]
        return forms.ChoiceField(choices=choices, **common)
    if setting.type == "list":
        common["help_text"] += " Separated by commas."
    if suggestions:
        # The default is not filled in, since browsers only suggest values that begin with the field's text.
        default = common.pop("initial")
        shown = {"list": suggestions, "placeholder": default or "", "spellcheck": "false"}
        common["widget"] = forms.TextInput(attrs=shown)
        if default:
            common["help_text"] += f" Empty: {default}."
    return forms.CharField(max_length=None if setting.type == "list" else LONGEST_TEXT, **common)
