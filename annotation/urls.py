"""Addresses of the rater's and the manager's pages."""

from django.contrib.auth.views import LogoutView
from django.urls import path

from annotation.views import entry, gold, history, rating

urlpatterns = [
    # the way in
    path("sign-in/", entry.sign_in, name="sign_in"),
    path("sign-out/", LogoutView.as_view(), name="sign_out"),
    path("invitations/<str:token>/", entry.invitation, name="invitation"),
    path("account/", entry.account, name="account"),
    path("account/tokens/", entry.token_new, name="token_new"),
    path("account/tokens/<int:token_id>/delete/", entry.token_delete, name="token_delete"),
    path("account/password/", entry.password, name="password"),
    # the rater's pages
    path("projects/<slug:slug>/rate/", rating.rate, name="rate"),
    path("projects/<slug:slug>/rate/<int:assignment_id>/", rating.rate_item, name="rate_item"),
    path("projects/<slug:slug>/rate/<int:assignment_id>/draft/", rating.rate_draft, name="rate_draft"),
    path("projects/<slug:slug>/rate/<int:assignment_id>/flag/", rating.rate_flag, name="rate_flag"),
    path("projects/<slug:slug>/rate/<int:assignment_id>/skip/", rating.rate_skip, name="rate_skip"),
    path("projects/<slug:slug>/rounds/", gold.round_start, name="round_start"),
    path("projects/<slug:slug>/rounds/<int:number>/", gold.round_review, name="round_review"),
    path("projects/<slug:slug>/history/", history.history, name="history"),
    path("projects/<slug:slug>/history/<int:rating_id>/", history.history_rating, name="history_rating"),
    path(
        "projects/<slug:slug>/history/<int:rating_id>/<slug:question_key>/",
        history.history_correct,
        name="history_correct",
    ),
    # the manager's pages
]
