"""The choice of the interface's language."""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from annotation.interface_language.choice import choose_language


@login_not_required
@require_POST
def interface_language(request: HttpRequest) -> HttpResponse:
    """Keep the language, and return to the page on which it was chosen."""
    choose_language(request, request.POST.get("language", ""))
    back = request.POST.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(
        back, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return HttpResponseRedirect(back if is_ours else reverse("home"))
