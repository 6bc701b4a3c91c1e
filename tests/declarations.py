"""A check of the labels and help texts of declared settings."""

from annotation.declared.settings import Setting

LONGEST_LABEL, LONGEST_HELP = 3, 14  # words


def declaration_problems(setting: Setting) -> list[str]:
    """Return the problems of a setting's label, help text and choices."""
    problems = []
    label, help_text = setting.label, setting.help
    if not 1 <= len(label.split()) <= LONGEST_LABEL or "_" in label or not label[0].isupper():
        problems.append(f"{setting.name}: the label {label!r} is not one to three words")
    if len(help_text.split()) > LONGEST_HELP or not help_text.endswith(".") or ". " in help_text:
        problems.append(f"{setting.name}: the help {help_text!r} is not one short sentence")
    if any(not words or "_" in words for words in setting.choices.values()):
        problems.append(f"{setting.name}: the choices {setting.choices} are not in words")
    return problems
