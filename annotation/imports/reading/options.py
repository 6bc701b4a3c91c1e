"""Options that several import formats share."""

from functools import partial

from annotation.declared.settings import setting

language_option = partial(
    setting,
    "en",
    label="Language",
    help="Language code of articles without one in the file.",
    pattern=r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})?",
    expected="a language code such as en or pt-BR",
)
create_questionnaire_option = partial(
    setting,
    False,
    label="Create questionnaire",
    help="Use the proposed questionnaire if the project's does not fit.",
)
rater_option = partial(
    setting,
    "imported-labels",
    label="Rater",
    help="Pseudonym under which human labels are stored.",
    pattern=r".{1,80}",
    expected="a name of 1 to 80 characters",
)
reference_systems_option = partial(
    setting, (), label="Human systems", help="Systems whose summaries people wrote, usable as references."
)
map_option = partial(
    setting,
    (),
    label="Columns",
    help="field=column renames a column, field==value sets a field for all rows.",
    details="field=a+b joins two columns with a hyphen. In examples with one row per article, "
    "summary:NAME=column holds the summaries of a system. In scores, score:NAME=column holds those of an "
    "evaluator.",
    one_per_line=True,
)
sheet_option = partial(
    setting, "", label="Sheet", help="Sheet of an Excel workbook; empty: the first with cells."
)
