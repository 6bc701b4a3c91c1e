"""The page on which a rater of several languages chooses in which one to work."""

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.gold.qualified_languages import choose_language, rater_languages
from annotation.rating.refusal_views import show_refusals
from annotation.web.navigation import open_as_rater
from annotation.web.request_types import SignedInRequest


@require_http_methods(["GET", "HEAD", "POST"])
@show_refusals
def rate_languages(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show what each language needs. POST chooses one and continues with its work."""
    rater = open_as_rater(request, slug)
    if request.method == "POST":
        choose_language(rater, request.POST.get("language", ""))
        return redirect("rate", slug)
    context = {"rater": rater, "languages": rater_languages(rater)}
    return render(request, "annotation/rating/rate_languages.html", context)
