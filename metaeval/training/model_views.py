"""The pages of trained models: one model, its file, and those that come from elsewhere."""

from typing import BinaryIO, cast

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils.text import capfirst
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.errors import NotFound
from annotation.imports.upload_limit import too_large_upload
from annotation.permissions import Permission
from annotation.web.body_limits import takes_files
from annotation.web.navigation import open_project
from annotation.web.request_types import HtmxRequest, SignedInRequest
from metaeval.training.model_forms import RegistrationForm
from metaeval.training.model_page import model_page
from scoring.errors import InvalidTraining, ModelInUse
from scoring.training.model_changes import remove_model, rename_model
from scoring.training.registry import import_model, model_of, register_model
from scoring.weights.model_archives import MIB, packed


@takes_files
@require_http_methods(["GET", "HEAD", "POST"])
def model_register(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the form of a model to register, filled in from the address, and have a worker try it."""
    project = open_project(request, slug, Permission.MANAGE_RUNS)
    is_sent = request.method == "POST"
    form = RegistrationForm(
        project,
        request.POST if is_sent else None,
        request.FILES if is_sent else None,
        initial=request.GET.dict(),
    )
    if is_sent and too_large_upload(request):
        form.refuse(f"seen: the file is larger than {settings.UPLOAD_MAX_BYTES // MIB} MiB")
    elif form.is_valid():
        try:
            registered = register_model(project, request.user, form.registration())
            return redirect("model", slug, registered.name)
        except InvalidTraining as error:
            form.refuse(str(error))
    return render(request, "metaeval/model_register.html", {"form": form}, status=422 if form.errors else 200)


@require_safe
def model(request: HtmxRequest, slug: str, model_name: str) -> HttpResponse:
    """Show a model; for htmx, which polls while its files are tried, only what changes."""
    page = model_page(open_project(request, slug, Permission.SEE_PROGRESS), model_name)
    template = "metaeval/model.html#state" if request.htmx else "metaeval/model.html"
    return render(request, template, {"page": page})


@require_POST
def model_rename(request: SignedInRequest, slug: str, model_name: str) -> HttpResponse:
    """Give a model another name."""
    project = open_project(request, slug, Permission.MANAGE_RUNS)
    new_name = request.POST.get("name", "")
    try:
        rename_model(model_name, new_name, project, request.user)
    except (InvalidTraining, ModelInUse) as error:
        messages.error(request, capfirst(str(error).removeprefix("name: ")))
        return redirect("model", slug, model_name)
    messages.success(request, f"Model {model_name} is now called {new_name}.")
    return redirect("model", slug, new_name)


@require_http_methods(["GET", "HEAD", "POST"])
def model_delete(request: SignedInRequest, slug: str, model_name: str) -> HttpResponse:
    """Ask for confirmation, then delete."""
    project = open_project(request, slug, Permission.MANAGE_RUNS)
    page = model_page(project, model_name)
    if request.method == "POST":
        try:
            remove_model(model_name, project, request.user)
        except ModelInUse as error:
            messages.warning(request, str(error))
            return redirect("model", slug, model_name)
        messages.success(request, f"Model {model_name} deleted.")
        return redirect("trainings", slug)
    if not page.may_change:
        raise NotFound(f"The model {model_name} cannot be deleted from this project.")
    return render(request, "metaeval/model_delete.html", {"page": page})


@require_safe
def model_archive(request: SignedInRequest, slug: str, model_name: str) -> StreamingHttpResponse:
    """Download one of the project's trained models as a tar file."""
    model = model_of(open_project(request, slug, Permission.MANAGE_RUNS), model_name)
    response = StreamingHttpResponse(packed(model), content_type="application/x-tar")
    response["Content-Disposition"] = f'attachment; filename="{model.name}.tar"'
    return response


@takes_files
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
