"""The WSGI entry point for any application server."""

import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "touchstone.settings")

application = get_wsgi_application()
_ = get_resolver().url_patterns  # imports all views once, before the server makes its processes
