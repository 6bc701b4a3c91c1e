"""The pages of trained models: one model, its file, and those that come from elsewhere."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils.text import capfirst
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.errors import NotFound
from annotation.imports.upload_limit import too_large_upload
from annotation.models import Project
from annotation.permissions import Permission
from annotation.web.body_limits import takes_files
from annotation.web.navigation import open_project
from annotation.web.request_types import HtmxRequest, SignedInRequest
from metaeval.training.page import run_address, seen_in_words
from scoring.errors import InvalidTraining, ModelInUse
from scoring.inputs.offered_models import models_on_offer
from scoring.inputs.seen_file import read_seen
from scoring.models import RegisteredModel, Training
from scoring.runs.forms import WEIGHTS_HERE
from scoring.training.model_changes import remove_model, rename_model
from scoring.training.model_uses import ModelUses, uses_of
from scoring.training.registering import Registration, registrable
from scoring.training.registry import import_model, model_of, register_model, registration_of, training_named
from scoring.weights.model_archives import MIB, packed
from scoring.weights.trained_models import TrainedModel

FROM_CARD = "As the model's card says"
DIMENSIONS = "dimensions-asked"
"""Id of the page's list of the project's dimensions."""


class RegistrationForm(forms.Form):
    """A model in a folder or with a hub id, the evaluator that reads it, and what it has seen."""

    source = forms.CharField(
        label="Model",
        max_length=500,
        widget=forms.TextInput(attrs={"list": WEIGHTS_HERE, "spellcheck": "false"}),
        help_text="A folder of the server's WEIGHTS_DIR, or the id of a downloaded model.",
    )
    name = forms.CharField(max_length=60, help_text="Lower-case letters, digits, dots and hyphens.")
    evaluator = forms.ChoiceField(required=False, help_text="The method that reads the model.")
    dimension = forms.CharField(
        required=False,
        max_length=60,
        widget=forms.TextInput(attrs={"list": DIMENSIONS}),
        help_text="SEAHORSE only: the dimension that the model scores. Empty: found by the id.",
    )
    params = forms.CharField(
        required=False,
        label="Parameters",
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false", "placeholder": "max_length=512"}),
        help_text="Parameters of the evaluator that suit the model. NAME=VALUE, one per line.",
    )
    seen = forms.FileField(
        required=False,
        label="Articles seen",
        help_text="A line for each article: an id, a text digest, or a row of an examples file.",
    )
    note = forms.CharField(
        required=False,
        max_length=500,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Further facts about its training data.",
    )

    def __init__(self, project: Project, data: Any = None, files: Any = None, **options: Any) -> None:
        super().__init__(data, files, **options)
        self._project = project
        chooser = self.fields["evaluator"]
        assert isinstance(chooser, forms.ChoiceField)
        chooser.choices = [("", FROM_CARD), *((each.name, each.title) for each in registrable())]

    def lists(self) -> Iterator[tuple[str, list[str]]]:
        """Yield the id and entries of each list in the page."""
        yield WEIGHTS_HERE, models_on_offer(self._project)
        yield DIMENSIONS, list(self._project.questionnaire.questions.values_list("dimension", flat=True))

    def clean_params(self) -> dict[str, str]:
        pairs = [line.partition("=") for line in self.cleaned_data["params"].splitlines() if line.strip()]
        if wrong := [name for name, equals, _ in pairs if not equals]:
            raise forms.ValidationError(f"Found {wrong[0]!r}, expected NAME=VALUE.")
        return {name.strip(): value.strip() for name, _, value in pairs}

    def registration(self) -> Registration:
        """Return what the valid form says. Raises InvalidTraining as `read_seen`."""
        given = self.cleaned_data
        seen = {}
        if file := given.pop("seen"):
            try:
                lines = file.read().decode("utf-8-sig").split("\n")
            except UnicodeDecodeError as error:
                raise InvalidTraining("seen: the file is not text in UTF-8") from error
            seen = read_seen(lines, self._project)
        return Registration(**given, seen=seen)

    def refuse(self, message: str) -> None:
        """Show an error beside the field that it names, else above the form."""
        name, colon, said = message.partition(": ")
        if name.startswith("parameter "):
            return self.add_error("params", capfirst(message))
        if colon and name in self.fields:
            return self.add_error(name, capfirst(said))
        return self.add_error(None, capfirst(message))


@dataclass(frozen=True)
class ModelPage:
    project: Project
    name: str
    model: TrainedModel | None
    """The installed model; None until its files were tried."""
    registration: RegisteredModel | None
    """The registration; None for a model that was trained here, or that the operator installed."""
    training: Training | None
    uses: ModelUses

    @property
    def may_change(self) -> bool:
        """Return whether the model belongs to this project without a training of its own."""
        return self.registration is not None

    @property
    def is_waiting(self) -> bool:
        return self.registration is not None and self.registration.is_unfinished

    @property
    def own_uses(self) -> int:
        """The project's evaluators with scores by the model."""
        return sum(each.project_id == self.project.pk for each in self.uses.setups)

    @property
    def seen_in_words(self) -> str:
        """Return such as "3 in training, 2 in validation"; empty if it is not known."""
        return seen_in_words(self.model)

    @property
    def run_address(self) -> str:
        return run_address(self.project.slug, self.model) if self.model else ""


def model_page(project: Project, name: str) -> ModelPage:
    """Return the page of one of the project's models. Raises NotFound."""
    registration = registration_of(project, name)
    try:
        found = model_of(project, name)
    except NotFound:
        if registration is None:
            raise
        found = None
    return ModelPage(project, name, found, registration, training_named(project, name), uses_of(name))


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
    return render(
        request, "metaeval/training/model_register.html", {"form": form}, status=422 if form.errors else 200
    )


@require_safe
def model(request: HtmxRequest, slug: str, model_name: str) -> HttpResponse:
    """Show a model; for htmx, which polls while its files are tried, only what changes."""
    page = model_page(open_project(request, slug, Permission.SEE_PROGRESS), model_name)
    template = "metaeval/training/model.html#state" if request.htmx else "metaeval/training/model.html"
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
    return render(request, "metaeval/training/model_delete.html", {"page": page})


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
