"""Pages that void a rating and restore it."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from annotation.errors import InvalidFields
from annotation.permissions import Permission
from annotation.rating.voiding import LONGEST_REASON, rating_in, restore_rating, void_rating
from annotation.web.navigation import open_project
from annotation.web.request_types import SignedInRequest


@require_http_methods(["GET", "HEAD", "POST"])
def rating_void(request: SignedInRequest, slug: str, rating_id: int) -> HttpResponse:
    project = open_project(request, slug, Permission.MANAGE_PROJECT)
    rating = rating_in(project, rating_id)
    reason, error = request.POST.get("reason", ""), ""
    if request.method == "POST":
        try:
            void_rating(project, request.user, rating_id, reason)
        except InvalidFields as refused:
            error = refused.fields["reason"]
        else:
            messages.success(request, f"Rating by {rating.rater} voided. You can restore it at any time.")
            return redirect("summary", slug, rating.summary_id)
    context = {"rating": rating, "reason": reason, "error": error, "longest": LONGEST_REASON}
    return render(request, "annotation/rating/void.html", context, status=422 if error else 200)


@require_POST
def rating_restore(request: SignedInRequest, slug: str, rating_id: int) -> HttpResponse:
    project = open_project(request, slug, Permission.MANAGE_PROJECT)
    rating = restore_rating(project, request.user, rating_id)
    messages.success(request, "Rating restored. It counts again.")
    return redirect("summary", slug, rating.summary_id)
