"""Template tags shared by all pages."""

from django.template import Context, Template


def rendered(source, **context):
    return " ".join(Template("{% load page %}" + source).render(Context(context)).split())


def test_style_sheets_and_scripts_keep_their_order():
    assert rendered('{% styles "charts" "figures" %}').count("stylesheet") == 2
    assert rendered('{% styles "charts" "figures" %}').index("charts.css") < rendered(
        '{% styles "charts" "figures" %}'
    ).index("figures.css")
    assert '<script src="/static/js/live.js" defer></script>' in rendered('{% scripts "live" %}')


def test_a_post_button_has_the_csrf_token_and_names_its_object():
    form = rendered(
        '{% post_button "Suspend" "rater_suspend" "news" 7 look="compact" of=name element_id="it" %}',
        name="<R01>",
        csrf_token="TOKEN",
    )
    assert 'action="/projects/news/people/raters/7/suspend/"' in form
    assert 'value="TOKEN"' in form
    assert 'class="button compact" id="it"' in form
    assert "> &lt;R01&gt;</span>" in form
