import gzip
import io

import pytest
from django.core.management import CommandError, call_command

from tests.annotation.exports.exporting_steps import exported, rate
from tests.factories import make_project, make_rater, make_summary

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    project = make_project()
    rate(make_summary(project), make_rater(project), comprehensibility="no")
    return project


def export(*arguments):
    errors = io.StringIO()
    call_command("export", *arguments, stderr=errors)
    return errors.getvalue()


def test_a_file_is_written_whole(project, tmp_path):
    path = tmp_path / "ratings.csv"
    said = export("ratings", "--project", project.slug, "--output", str(path))
    assert path.read_bytes() == exported(project, "ratings")
    assert said == f"Wrote {path.stat().st_size:,} bytes to {path}.\n"
    assert [each.name for each in tmp_path.iterdir()] == ["ratings.csv"]


def test_a_file_is_compressed_if_its_name_says_so(project, tmp_path):
    path = tmp_path / "ratings.csv.gz"
    said = export("ratings", "--project", project.slug, "--output", str(path))
    assert gzip.decompress(path.read_bytes()) == exported(project, "ratings")
    assert said == f"Wrote {path.stat().st_size:,} bytes to {path}.\n"


def test_without_a_file_it_goes_to_the_standard_output(project, capfdbinary):
    export("seahorse", "--project", project.slug, "--language", "en")
    assert capfdbinary.readouterr().out == exported(project, "seahorse")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rating"], "did you mean ratings"),
        (["ratings", "--language", "fr"], "found 'fr', expected one of en"),
        (["seahorse", "--articles"], "the export seahorse has no such option"),
        (["summeval"], "does not ask coherence"),
        (["ratings", "--output", "/no/such/folder/ratings.csv"], "No such file or directory"),
    ],
)
def test_wrong_arguments_write_nothing(project, arguments, message):
    with pytest.raises(CommandError, match=message) as refused:
        export(*arguments, "--project", project.slug)
    assert refused.value.returncode == 2
