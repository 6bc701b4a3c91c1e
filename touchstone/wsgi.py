"""The WSGI entry point for any application server."""

import os
import sys

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

from metaeval.live.shared_results import SHARED
from touchstone.server_folders import make_server_folder

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "touchstone.settings")
# A server without settings must not start, even where `script/up` has left var/local.env. What it starts has
# its mode in the environment.
os.environ.setdefault("TOUCHSTONE_MODE", "production")
# A worker's statement may take long. A page that waited longer would only take a thread from the others.
os.environ.setdefault("DATABASE_PATIENCE_S", "30")

# A thread gives up the interpreter at each SQL statement and gets it back when another's interval ends, by
# default after 5 ms. Meanwhile it holds SQLite's only write lock.
sys.setswitchinterval(0.0005)  # seconds

application = get_wsgi_application()
_ = get_resolver().url_patterns  # imports all views once, before the server makes its processes
# Made where the code is loaded, so that no result is older than the code that would compute it.
SHARED.share(make_server_folder("results"))
