from django.http import QueryDict

from annotation.summaries.summary_trail import LONGEST_TRAIL, SummaryTrail, TrailPosition

LIST = "/projects/news/summaries/?page=2&system=lead"


def read(trail, slug="news"):
    return SummaryTrail.read(QueryDict(trail.query.removeprefix("?")), slug)


def test_a_trail_is_read_back_unchanged_from_its_address():
    trail = SummaryTrail.of([7, 3, 12], LIST)
    assert read(trail) == trail


def test_a_position_gives_the_previous_and_the_next_summary():
    trail = SummaryTrail.of([7, 3, 12], LIST)
    assert trail.position(7) == TrailPosition(number=1, of=3, previous=None, next=3)
    assert trail.position(3) == TrailPosition(number=2, of=3, previous=7, next=12)
    assert trail.position(12) == TrailPosition(number=3, of=3, previous=3, next=None)
    assert trail.position(5) is None


def test_without_a_list_there_is_no_query():
    assert SummaryTrail().query == ""
    assert SummaryTrail.read(QueryDict(""), "news") == SummaryTrail()


def test_the_back_link_never_leaves_the_project():
    for back in (
        "https://example.org/",
        "//example.org/projects/news/",
        "/projects/other/",
        "javascript:alert(1)",
    ):
        assert read(SummaryTrail((1,), back)).back == ""


def test_invalid_ids_are_skipped_and_long_lists_are_cut():
    given = QueryDict(mutable=True)
    given["among"] = f"1-x--{10**30}-٣-{2**63}-2"
    assert SummaryTrail.read(given, "news").ids == (1, 2)
    assert len(SummaryTrail.of(range(1000), LIST).ids) == LONGEST_TRAIL
