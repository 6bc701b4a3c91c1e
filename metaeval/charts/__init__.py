"""Charts as SVG, without scripts. Pure: arrays in, text out.

Colours, strokes and fonts are set by class in static/css/charts.css.
"""

from metaeval.charts.answer_columns import answer_columns
from metaeval.charts.calibration import calibration_bins, calibration_plot
from metaeval.charts.curves import Curve, curves
from metaeval.charts.histogram import histogram, histogram_bars
from metaeval.charts.learning_curve import learning_curve
from metaeval.charts.links import Links
from metaeval.charts.measured_rows import Measured, evaluator_bars, interval_dots
from metaeval.charts.member_line import member_line
from metaeval.charts.member_rows import MemberGroup, member_rows
from metaeval.charts.parts import Range
from metaeval.charts.scatter import scatter, system_means
from metaeval.charts.system_marks import legend_mark
from metaeval.charts.two_distributions import shared_grid, two_distributions

__all__ = [
    "Curve",
    "Links",
    "Measured",
    "MemberGroup",
    "Range",
    "answer_columns",
    "calibration_bins",
    "calibration_plot",
    "curves",
    "evaluator_bars",
    "histogram",
    "histogram_bars",
    "interval_dots",
    "learning_curve",
    "legend_mark",
    "member_line",
    "member_rows",
    "scatter",
    "shared_grid",
    "system_means",
    "two_distributions",
]
