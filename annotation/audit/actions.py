"""Everything that the audit log records. A new action is one line here and a call of `record`."""

from django.db.models import TextChoices


class Action(TextChoices):
    """An action, as the database stores it, and as pages show it.

    Values stay as they are, since entries never change.
    """

    # the project
    PROJECT_CREATED = "project_created", "Created project"
    SETTINGS_CHANGED = "settings_changed", "Changed settings"
    RESULTS_PUBLISHED = "results_published", "Published results"
    RESULTS_UNPUBLISHED = "results_unpublished", "Unpublished results"
    CAMPAIGN_CLOSED = "campaign_closed", "Closed campaign"
    CAMPAIGN_REOPENED = "campaign_reopened", "Reopened campaign"
    PROJECT_ARCHIVED = "project_archived", "Archived project"
    PROJECT_RESTORED = "project_restored", "Restored project"
    PROJECT_DELETED = "project_deleted", "Deleted project"
    GUIDELINES_PUBLISHED = "guidelines_published", "Published guidelines"
    # people
    INVITATION_CREATED = "invitation_created", "Created invitation"
    INVITATION_REVOKED = "invitation_revoked", "Revoked invitation"
    INVITATION_ACCEPTED = "invitation_accepted", "Accepted invitation"
    MEMBER_ADDED = "member_added", "Added member"
    MEMBER_REMOVED = "member_removed", "Removed member"
    RATER_ADDED = "rater_added", "Added rater"
    RATER_QUALIFIED = "rater_qualified", "Qualified rater"
    QUALIFICATION_WITHDRAWN = "qualification_withdrawn", "Required another round"
    ROUND_ALLOWED = "round_allowed", "Allowed another round"
    RATER_SUSPENDED_BY_CHECKS = "rater_suspended_by_checks", "Suspended rater by hidden checks"
    RATER_SUSPENDED = "rater_suspended", "Suspended rater"
    RATER_REMOVED = "rater_removed", "Removed rater"
    RATER_REINSTATED = "rater_reinstated", "Reinstated rater"
    RATER_LANGUAGES_CHANGED = "rater_languages_changed", "Changed languages"
    RATERS_WRITTEN_TO = "raters_written_to", "Wrote to raters"
    # data
    FILE_IMPORTED = "file_imported", "Imported file"
    IMPORT_UNDONE = "import_undone", "Undid import"
    FILE_EXPORTED = "file_exported", "Exported file"
    GOLD_STORED = "gold_stored", "Stored gold answers"
    GOLD_REMOVED = "gold_removed", "Removed from gold set"
    GOLD_RESTORED = "gold_restored", "Restored to gold set"
    SUMMARY_WITHDRAWN = "summary_withdrawn", "Withdrew summary"
    SUMMARY_RESTORED = "summary_restored", "Restored summary"
    RATING_VOIDED = "rating_voided", "Voided rating"
    RATING_RESTORED = "rating_restored", "Restored rating"
    FLAG_RESOLVED = "flag_resolved", "Resolved flag"
    FLAG_REOPENED = "flag_reopened", "Opened flag again"
    ANSWERS_DECIDED = "answers_decided", "Decided answers"
    DECISION_WITHDRAWN = "decision_withdrawn", "Withdrew decision"
    # accounts
    TOKEN_CREATED = "token_created", "Created API token"
    TOKEN_DELETED = "token_deleted", "Deleted API token"
    PASSWORD_CHANGED = "password_changed", "Changed password"
    PASSWORD_LINK_CREATED = "password_link_created", "Created password link"
    PASSWORD_LINK_MAILED = "password_link_mailed", "Mailed password link"
    PASSWORD_RESET = "password_reset", "Reset password by link"
    TWO_FACTOR_TURNED_ON = "two_factor_turned_on", "Turned on two-factor authentication"
    TWO_FACTOR_TURNED_OFF = "two_factor_turned_off", "Turned off two-factor authentication"
    RECOVERY_CODES_CREATED = "recovery_codes_created", "Created recovery codes"
    RECOVERY_CODE_USED = "recovery_code_used", "Signed in with a recovery code"
    SIGN_ON_CONNECTED = "sign_on_connected", "Connected single sign-on"
    SESSION_ENDED = "session_ended", "Ended session"
    EMAIL_CHANGED = "email_changed", "Changed e-mail address"
    # evaluators
    KEY_STORED = "key_stored", "Stored endpoint key"
    KEY_REMOVED = "key_removed", "Removed endpoint key"
    RUN_DELETED = "run_deleted", "Deleted run"
    COMPARISON_PREREGISTERED = "comparison_preregistered", "Preregistered comparison"
    PREREGISTRATION_WITHDRAWN = "preregistration_withdrawn", "Withdrew preregistration"
    SEALED_LABELS_OPENED = "sealed_labels_opened", "Opened sealed labels"
