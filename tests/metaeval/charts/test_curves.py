"""The curves of a training as a chart."""

from xml.etree import ElementTree as ET

from metaeval.charts import Curve, curves

SVG = "{http://www.w3.org/2000/svg}"


def drawn(*shown, **more) -> ET.Element:
    return ET.fromstring(curves(shown, title="Loss", across_title="Step", up_title="Loss", **more))


def places(curve: ET.Element) -> list[tuple[float, ...]]:
    return [tuple(map(float, each.split(","))) for each in curve.get("points").split()]


def test_each_curve_goes_through_its_values_and_is_named():
    svg = drawn(Curve("training loss", [0, 10, 20], [1.0, 0.5, 0.0]), Curve("validation loss", [20], [0.5]))
    first, second = (each for each in svg.iter("polyline") if len(places(each)) != 2)
    (x0, y0), (x1, y1), (x2, y2) = places(first)
    assert x1 - x0 == x2 - x1 > 0
    assert y1 - y0 == y2 - y1 > 0
    assert places(second) == [(x2, y1)]
    names = [each.text for each in svg.iter("text")]
    assert {"training loss", "validation loss"} <= set(names)
    assert "training loss: 1 at step 0, 0 at step 20." in svg.find("desc").text


def test_the_best_step_is_marked():
    svg = drawn(Curve("loss", [0, 10], [1.0, 0.5]), best=10)
    [mark] = [each for each in svg.iter("line") if each.get("class") == "ceiling"]
    assert mark.get("x1") == mark.get("x2")
    assert "Best step: 10." in svg.find("desc").text


def test_one_point_makes_a_chart():
    assert drawn(Curve("loss", [1], [0.5])).find("title").text == "Loss"


def test_a_long_curve_has_no_dots():
    assert not list(drawn(Curve("loss", range(100), [1 / (n + 1) for n in range(100)])).iter("circle"))
