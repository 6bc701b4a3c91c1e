"""All addresses: pages by app, and the API under /api/. /healthz is in annotation/web/health.py."""

from django.contrib import admin
from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView

from annotation.home.views import favicon
from annotation.people.two_factor_views import admin_sign_in

handler400 = "annotation.web.error_pages.bad_request"
handler403 = "annotation.web.error_pages.not_allowed"
handler404 = "annotation.web.error_pages.not_found"
handler500 = "annotation.web.error_pages.server_error"

urlpatterns = [
    path("favicon.ico", favicon, name="favicon"),
    path("admin/login/", admin_sign_in, name="admin_sign_in"),  # instead of Django's, which asks for no code
    path("admin/", admin.site.urls),
    path("api/schema/", SpectacularAPIView.as_view(), name="api_schema"),
    path("api/", include("annotation.api_urls")),
    path("api/", include("scoring.api_urls")),
    path("api/", include("metaeval.api_urls")),
    path("", include("annotation.urls")),
    path("", include("scoring.urls")),
    path("", include("metaeval.urls")),
]
