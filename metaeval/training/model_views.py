"""Download a trained model as one file, and import one."""

from typing import BinaryIO, cast

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect
from django.utils.text import capfirst
from django.views.decorators.http import require_POST, require_safe

from annotation.imports.upload_limit import too_large_upload
from annotation.permissions import Permission
from annotation.web.navigation import open_project
from annotation.web.request_types import SignedInRequest
from scoring.errors import InvalidTraining
from scoring.training.registry import import_model, model_of
from scoring.weights.model_archives import MIB, packed


@require_safe
def model_archive(request: SignedInRequest, slug: str, model_name: str) -> StreamingHttpResponse:
    """Download one of the project's trained models as a tar file."""
    model = model_of(open_project(request, slug, Permission.MANAGE_RUNS), model_name)
    response = StreamingHttpResponse(packed(model), content_type="application/x-tar")
    response["Content-Disposition"] = f'attachment; filename="{model.name}.tar"'
    return response


@require_POST
def model_import(request: SignedInRequest, slug: str) -> HttpResponse:
    """Install an uploaded archive of a trained model, under the name of the file."""
    project = open_project(request, slug, Permission.MANAGE_RUNS)
    file = request.FILES.get("file")
    if too_large_upload(request):
        messages.error(
            request,
            f"The file is larger than {settings.UPLOAD_MAX_BYTES // MIB} MiB. Ask the server's operator to "
            "import it with manage.py weights import.",
        )
    elif file is None or file.file is None:
        messages.error(request, "Choose a file first.")
    else:
        try:
            model = import_model(project, request.user, cast(BinaryIO, file.file), file.name or "")
            messages.success(request, f"Model {model.name} imported.")
        except InvalidTraining as error:
            messages.error(request, capfirst(str(error).partition(": ")[2]) + ".")
    return redirect("trainings", slug)
