from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from annotation.progress.daily_bars import BASE, HEIGHT, TOP, WIDTH, daily_bars


def test_the_largest_day_fills_the_frame_and_the_others_are_in_proportion():
    low, high = daily_bars([(date(2026, 11, 1), 25, 0), (date(2026, 11, 2), 60, 40)])
    assert (high.upper_y, high.lower_height + high.upper_height) == (TOP, BASE - TOP)
    assert low.lower_height == (BASE - TOP) / 4


def test_a_day_without_ratings_has_no_bar_and_one_rating_is_visible():
    none, one, _ = daily_bars(
        [(date(2026, 11, 1), 0, 0), (date(2026, 11, 2), 1, 0), (date(2026, 11, 3), 100_000, 0)]
    )
    assert (none.lower_height, none.upper_height) == (0, 0)
    assert one.lower_height > 1


def test_no_ratings_give_an_empty_chart():
    assert daily_bars([]) == []
    assert daily_bars([(date(2026, 11, 1), 0, 0)])[0].total == 0


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)), min_size=1, max_size=14))
def test_bars_stay_in_the_frame_and_stack(counts):
    bars = daily_bars([(date(2026, 11, 1 + number), *pair) for number, pair in enumerate(counts)])
    for bar in bars:
        assert bar.x >= 0
        assert bar.x + bar.width <= WIDTH
        assert TOP - 2 <= bar.upper_y <= bar.lower_y <= BASE < HEIGHT
        assert abs(bar.upper_y + bar.upper_height - bar.lower_y) < 0.02


def test_the_first_bar_and_each_new_month_name_the_month():
    bars = daily_bars([(date(2026, 10, 31), 0, 0), (date(2026, 11, 1), 0, 0), (date(2026, 11, 2), 0, 0)])
    assert [bar.names_month for bar in bars] == [True, True, False]
