"""Defining a questionnaire without code."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.actions.projects import store_questionnaire
from annotation.errors import DomainError, NotAllowed
from annotation.manager_forms.questionnaires import QuestionFormSet, QuestionnaireForm, defined
from annotation.permissions import may_create_project
from annotation.signed_in import SignedInRequest


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def questionnaire_new(request: SignedInRequest) -> HttpResponse:
    if not may_create_project(request.user):
        raise NotAllowed("Administrators and managers of a project define questionnaires. Ask one of them.")
    sent = request.POST if request.method == "POST" else None
    form = QuestionnaireForm(sent, label_suffix="")
    questions = QuestionFormSet(sent, form_kwargs={"label_suffix": ""})
    if sent is not None and form.is_valid() and questions.is_valid():
        try:
            stored = store_questionnaire(defined(form, questions))
        except (DomainError, ValueError) as refused:
            form.add_error(None, str(refused))
        else:
            messages.success(request, f"“{stored.title}” is there to be chosen.")
            return redirect(f"{reverse('project_new')}?questionnaire={stored.key}")
    context = {"form": form, "questions": questions}
    status = 200 if sent is None else 422
    return render(request, "annotation/questionnaire_new.html", context, status=status)
