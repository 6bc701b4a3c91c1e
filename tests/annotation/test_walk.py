from django.http import QueryDict

from annotation.walk import LONGEST_WALK, Place, Walk

LIST = "/projects/news/summaries/?page=2&system=lead"


def read(walk, slug="news"):
    return Walk.read(QueryDict(walk.query.removeprefix("?")), slug)


def test_a_walk_comes_out_of_its_address_as_it_went_in():
    walk = Walk.along([7, 3, 12], LIST)
    assert read(walk) == walk


def test_it_tells_the_summaries_beside_one():
    walk = Walk.along([7, 3, 12], LIST)
    assert walk.place(7) == Place(number=1, of=3, previous=None, next=3)
    assert walk.place(3) == Place(number=2, of=3, previous=7, next=12)
    assert walk.place(12) == Place(number=3, of=3, previous=3, next=None)
    assert walk.place(5) is None


def test_without_a_list_there_is_no_query():
    assert Walk().query == ""
    assert Walk.read(QueryDict(""), "news") == Walk()


def test_it_never_leads_out_of_the_project():
    for back in (
        "https://example.org/",
        "//example.org/projects/news/",
        "/projects/other/",
        "javascript:alert(1)",
    ):
        assert read(Walk((1,), back)).back == ""


def test_what_cannot_be_an_id_is_passed_over_and_long_lists_are_cut():
    given = QueryDict(mutable=True)
    given["among"] = f"1-x--{10**30}-٣-{2**63}-2"
    assert Walk.read(given, "news").ids == (1, 2)
    assert len(Walk.along(range(1000), LIST).ids) == LONGEST_WALK
