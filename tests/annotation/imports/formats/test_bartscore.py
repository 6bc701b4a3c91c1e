import copy
import json

import pytest

from annotation.declared.settings import SettingsRefused
from annotation.imports.reading.labels import label_pattern, split_score_name
from tests.import_files import jsonl, read, refused

HUMAN = "human_score_{dimension}"
SCORES = {"human_score_coherence": 0.25, "ice_uniform_coherence": 0.5, "rouge1_f": 0.1}
ARTICLE = {
    "src": "The harbour froze.",
    "ref_summ": "Ice.",
    "sys_summs": {
        "M8": {"sys_summ": "a ship", "scores": SCORES},
        "M9": {"sys_summ": "b ship", "scores": SCORES},
    },
}


def article(**changes):
    return copy.deepcopy(ARTICLE) | changes


def system(**changes):
    return article(sys_summs={"M8": copy.deepcopy(ARTICLE["sys_summs"]["M8"]) | changes})


def as_object(path, **articles):
    path.write_text(json.dumps(articles, indent=1))
    return path


def test_one_object_and_json_lines_give_the_same_entries(tmp_path):
    by_object = read("bartscore", as_object(tmp_path / "a.json", x=article(), y=article()), labels=HUMAN)
    by_line = read("bartscore", jsonl(tmp_path / "b.jsonl", article(id="x"), article(id="y")), labels=HUMAN)
    assert not by_object.problems
    assert not by_line.problems
    for one, other in zip(by_object.entries, by_line.entries, strict=True):
        assert (one.article, one.summaries, one.scores) == (other.article, other.summaries, other.scores)
    assert [entry.line for entry in by_line.entries] == [1, 2]
    assert by_object.entries[1].line > by_object.entries[0].line > 1


def test_labels_become_ratings_and_other_values_become_scores(tmp_path):
    (entry,) = read("bartscore", as_object(tmp_path / "a.json", x=article()), labels=HUMAN).entries
    assert [(each.system, each.rater, each.group) for each in entry.ratings] == [
        ("M8", "imported-labels", "imported"),
        ("M9", "imported-labels", "imported"),
    ]
    assert entry.ratings[0].answers["coherence"].value == "0.25"
    assert [(score.evaluator, score.dimension, score.value) for score in entry.scores[:2]] == [
        ("ice_uniform", "coherence", 0.5),
        ("rouge1_f", "general", 0.1),
    ]


def test_a_dimension_labelled_in_one_article_is_known_in_all(tmp_path):
    unlabelled = system(scores={"ice_uniform_coherence": 0.5})
    found = read("bartscore", as_object(tmp_path / "a.json", x=unlabelled, y=article()), labels=HUMAN)
    assert {score.evaluator for score in found.entries[0].scores} == {"ice_uniform"}


def test_without_a_label_pattern_all_values_become_scores(tmp_path):
    (entry,) = read("bartscore", as_object(tmp_path / "a.json", x=article())).entries
    assert not entry.ratings
    assert len(entry.scores) == 6


def test_names_lose_the_white_space_around_them(tmp_path):
    path = jsonl(tmp_path / "a.jsonl", system(scores={f"{' ' * 120}rouge1_f": 0.5}) | {"id": "x"})
    assert read("bartscore", path).entries[0].scores[0].evaluator == "rouge1_f"


def test_a_null_label_is_skipped_and_a_null_score_gets_a_reason(tmp_path):
    nulls = system(scores=dict.fromkeys(SCORES))
    (entry,) = read("bartscore", as_object(tmp_path / "a.json", x=nulls), labels=HUMAN).entries
    assert not entry.ratings
    assert [(score.value, bool(score.reason)) for score in entry.scores] == [(None, True)] * 2


def test_placeholder_references_can_be_left_out(tmp_path):
    path = as_object(tmp_path / "a.json", x=article())
    assert [s.system for s in read("bartscore", path).entries[0].summaries] == ["reference-1", "M8", "M9"]
    left_out = read("bartscore", path, no_references=True).entries[0].summaries
    assert [s.system for s in left_out] == ["M8", "M9"]


def test_several_references_are_kept_in_order(tmp_path):
    several = article(ref_summs=["one", "two"], ref_summ="one")
    (entry,) = read("bartscore", as_object(tmp_path / "a.json", x=several)).entries
    assert [(s.system, s.text) for s in entry.summaries if s.is_reference] == [
        ("reference-1", "one"),
        ("reference-2", "two"),
    ]


def test_numbered_systems_can_be_named(tmp_path):
    numbered = [
        article(sys_summs={str(2 * place + number): {"sys_summ": f"text {number}"} for number in (0, 1)})
        for place in range(2)
    ]
    path = as_object(tmp_path / "a.json", x=numbered[0], y=numbered[1])
    named = read("bartscore", path, systems="A,B", no_references=True)
    assert [[s.system for s in entry.summaries] for entry in named.entries] == [["A", "B"]] * 2
    assert not named.notes
    assert any("--systems" in note for note in read("bartscore", path).notes)
    assert read("bartscore", path, systems="A,B,C").where == [(2, "sys_summs"), (14, "sys_summs")]


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        (article(src=None), "src"),
        (article(src=1), "src"),
        (article(ref_summ=1), "ref_summ"),
        (article(ref_summs="x"), "ref_summs"),
        (article(sys_summs=None), "sys_summs"),
        (article(sys_summs=[1]), "sys_summs"),
        (article(sys_summs={"M8": "text"}), "sys_summs.M8"),
        (article(sys_summs={"": {"sys_summ": "x"}}), "sys_summs."),
        (system(sys_summ=None), "sys_summs.M8.sys_summ"),
        (system(scores=[0.5]), "sys_summs.M8.scores"),
        (system(scores={"human_score_coherence": "0.5"}), "sys_summs.M8.scores.human_score_coherence"),
        (system(scores={"rouge1_f": "0.5"}), "sys_summs.M8.scores.rouge1_f"),
        (system(scores={"rouge1_f": True}), "sys_summs.M8.scores.rouge1_f"),
        (system(scores={"rouge1_f": 10**400}), "sys_summs.M8.scores.rouge1_f"),
        (system(scores={"rouge1_f": 1, " rouge1_f": 2}), "sys_summs.M8.scores. rouge1_f"),
        (
            system(scores={"human_score_fit": 1, "human_score_ fit": 2}),
            "sys_summs.M8.scores.human_score_ fit",
        ),
        (article(sys_summs={"M8": {"sys_summ": "a"}, "M8 ": {"sys_summ": "a"}}), "sys_summs.M8 "),
        (system(scores={f"human_score_{'d' * 61}": 0.5}), f"sys_summs.M8.scores.human_score_{'d' * 61}"),
    ],
)
def test_an_invalid_article_is_reported_with_line_and_field(tmp_path, changed, field):
    path = jsonl(tmp_path / "a.jsonl", article(id="x"), changed | {"id": "y"})
    found = read("bartscore", path, labels=HUMAN)
    assert found.where == [(2, field)]
    assert len(found.entries) == 1


def test_a_line_without_id_is_invalid(tmp_path):
    assert read("bartscore", jsonl(tmp_path / "a.jsonl", article())).where == [(1, "id")]


@pytest.mark.parametrize(
    "options", [{"labels": "human"}, {"labels": "{dimension}{dimension}"}, {"systems": "A,A"}]
)
def test_invalid_options_are_refused(tmp_path, options):
    with pytest.raises(SettingsRefused):
        read("bartscore", as_object(tmp_path / "a.json", x=article()), **options)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ice_uniform_coherence", ("ice_uniform", "coherence")),
        ("coherence-unieval", ("unieval", "coherence")),
        ("ice:coherence", ("ice", "coherence")),
        ("coherence", ("imported", "coherence")),
        ("x_main_ideas", ("x", "main_ideas")),
        ("incoherence", ("incoherence", "general")),
        ("rouge1_f", ("rouge1_f", "general")),
    ],
)
def test_a_score_name_is_split_into_evaluator_and_dimension(name, expected):
    assert split_score_name(name, ["coherence", "ideas", "main_ideas"]) == expected


def test_a_pattern_matches_whole_names():
    pattern = label_pattern("h.{dimension}.x")
    assert pattern.fullmatch("h.fluency.x")["dimension"] == "fluency"
    assert pattern.fullmatch("hafluency.x") is None


def test_real_expert_means_are_read(shared):
    path = shared / "data/summeval/expert_means.16systems.jsonl.gz"
    found = read("bartscore", path, labels="{dimension}")
    assert not found.problems
    assert sum(len(entry.ratings) for entry in found.entries) == 1600
    assert not any(entry.scores for entry in found.entries)
    assert {sum(s.is_reference for s in entry.summaries) for entry in found.entries} == {11}


def test_real_ice_scores_are_read(shared):
    found = read("bartscore", shared / "data/ice/data_sms.json", labels=HUMAN)
    assert not found.problems
    assert len(found.entries) == 96
    scores = [score for entry in found.entries for score in entry.scores]
    assert len(scores) == 1536 * 12
    assert {score.evaluator for score in scores} == {"ice_uniform", "ice_stratified", "unieval"}
    assert {score.dimension for score in scores} == {"coherence", "consistency", "fluency", "relevance"}


def test_a_pattern_that_takes_every_score_for_a_label_is_refused(tmp_path):
    scores = {f"s{number}": 1 for number in range(101)}
    path = jsonl(
        tmp_path / "b.jsonl",
        {"id": "a", "src": "Long.", "sys_summs": {"x": {"sys_summ": "S.", "scores": scores}}},
    )
    problem = refused("bartscore", path, labels="{dimension}")
    assert (problem.line, problem.field, problem.found) == (1, "scores", "labels of over 100 dimensions")
