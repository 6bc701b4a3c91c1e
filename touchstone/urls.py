"""Every address: pages by app, the API under /api/, the operators' health check."""

from django.contrib import admin
from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView

from annotation.views.health import healthz

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("admin/", admin.site.urls),
    path("api/schema/", SpectacularAPIView.as_view(), name="api_schema"),
    path("api/", include("annotation.api_urls")),
    path("api/", include("scoring.api_urls")),
    path("api/", include("metaeval.api_urls")),
    path("", include("annotation.urls")),
    path("", include("scoring.urls")),
    path("", include("metaeval.urls")),
]
