"""What the SEAHORSE trainer learns from, and what it refuses."""

import random
from dataclasses import replace

import pytest

from annotation.declared.settings import read_settings
from scoring.trainers import UnknownTrainer, load_trainer
from scoring.trainers.contract import CannotTrain, TrainingItem
from scoring.trainers.seahorse import SeahorseTrainer
from tests.scoring.trainers.training_items import learnable_items


def trainer(**settings):
    given = {"dimensions": "attribution", **settings}
    return SeahorseTrainer(read_settings(SeahorseTrainer.Params, given, of="seahorse"))


def item(name, article, summary, label, split="train", dimension="attribution"):
    return TrainingItem(name, name, article, summary, labels={dimension: label}, split=split)


def test_the_table_finds_the_trainer_and_suggests_a_near_name():
    assert load_trainer("seahorse") is SeahorseTrainer
    with pytest.raises(UnknownTrainer, match="did you mean seahorse"):
        load_trainer("seahors")


def test_counts_say_what_is_learnt_from():
    data = trainer().prepare(learnable_items(20, 8))
    assert data.counts == {
        "Training articles": 20,
        "Validation articles": 8,
        "Test articles, not seen": 0,
        "Training examples": 20,
        "Validation examples": 8,
        "Yes in training": 10,
        "Yes in validation": 4,
        "Share of yes in what is learnt": 0.5,
        "Share of yes in all labels": 0.5,
    }
    assert data.languages == ("en",)
    assert (len(data.articles["train"]), len(data.articles["validation"])) == (20, 8)


def test_near_duplicates_are_counted_and_learnt_from_as_they_are():
    story = " ".join(f"word{number}" for number in range(20))
    pair = [item(end, f"{story} {end}", f"A summary, {end}.", 1.0) for end in ("one", "other")]
    data = trainer().prepare([*learnable_items(20, 8), *pair])
    assert data.counts["Near-duplicate articles"] == 2
    assert {each.article for each in pair} <= {each.article for each in data.train}


def test_test_articles_are_never_seen():
    held_out = [item("t", "Held out.", "A summary.", 1.0, split="test")]
    data = trainer().prepare(learnable_items() + held_out)
    assert data.counts["Test articles, not seen"] == 1
    assert all(each.article != "Held out." for each in (*data.train, *data.validation))


def test_duplicates_are_learnt_once_and_contradicting_ones_not_at_all():
    same = [item("a", "An article.", "One summary.", 1.0), item("b", "An  article. ", "One  summary.", 1.0)]
    torn = [item("c", "An article.", "Another.", 1.0), item("d", "An article.", "Another.", 0.0)]
    data = trainer().prepare([*learnable_items(), *same, *torn])
    assert [each.summary for each in data.train if each.article == "An article."] == ["One summary."]
    assert data.counts["Left out: duplicates"] == 2
    assert data.counts["Left out: contradicting duplicates"] == 1


SHARES = {"Two of three.": 2 / 3, "One of three.": 1 / 3, "One of two.": 0.5}


def learnt_of_three_raters(**settings):
    """Return what is learnt, and the labels of summaries on which raters disagree."""
    split = [item(name, "An article.", name, share) for name, share in SHARES.items()]
    data = trainer(**settings).prepare([*learnable_items(64, 8), *split])
    return data, {each.summary: each.label for each in data.train if each.article == "An article."}


def test_by_default_the_answer_of_most_raters_is_learnt():
    data, labels = learnt_of_three_raters()
    assert labels == {"Two of three.": 1, "One of three.": 0}
    assert data.counts["Left out: as many yes as no"] == 1
    assert {each.label for each in data.train} == {0, 1}


def test_the_share_of_yes_is_learnt_as_it_is():
    data, labels = learnt_of_three_raters(labels="share")
    assert labels == SHARES
    assert not any("Left out" in each for each in data.counts)
    assert data.counts["Share of yes in what is learnt"] == data.counts["Share of yes in all labels"]


def rated(text, *answers, decided=None):
    """Return a summary with the answers of its raters, and perhaps the adjudicated one."""
    return replace(
        item(text, "An article.", text, sum(answers) / len(answers)),
        answers={"attribution": answers},
        decided={} if decided is None else {"attribution": decided},
    )


def learnt(items, **settings):
    """Return what is learnt of the summaries of one article: text and label."""
    data = trainer(**settings).prepare([*learnable_items(), *items])
    return data, [(each.summary, each.label) for each in data.train if each.article == "An article."]


def test_each_rating_is_an_example_of_its_own():
    data, found = learnt([rated("One.", 0.0, 1.0, 1.0), rated("Two.", 0.0)], labels="ratings")
    assert found == [("One.", 0), ("One.", 1), ("One.", 1), ("Two.", 0)]
    assert not any("Left out" in each for each in data.counts)


def test_a_label_without_its_answers_counts_as_one_rating():
    _, found = learnt([item("1", "An article.", "One.", 2 / 3)], labels="ratings")
    assert found == [("One.", 1)]


def test_answers_in_the_middle_are_neither_yes_nor_no():
    data, found = learnt([rated("One.", 0.5, 1.0)], labels="ratings")
    assert found == [("One.", 1)]
    assert data.counts["Left out: as many yes as no"] == 1


def test_an_adjudicated_answer_overrules_the_raters():
    items = [
        rated("One.", 1.0, 1.0, 0.0, decided=0.0),
        rated("Two.", 0.0, 1.0, decided=1.0),
        rated("Three.", 1.0),
    ]
    assert learnt(items, labels="adjudicated")[1] == [("One.", 0), ("Three.", 1), ("Two.", 1)]
    assert learnt(items)[1] == [("One.", 1), ("Three.", 1)]


def test_a_decision_is_learnt_also_where_no_rater_was_sure():
    unsure = replace(rated("One.", 0.0, decided=1.0), labels={}, answers={})
    data, found = learnt([unsure], labels="adjudicated")
    assert found == [("One.", 1)]
    assert data.counts["Share of yes in what is learnt"] == data.counts["Share of yes in all labels"]


def test_duplicates_of_which_the_share_is_learnt_give_their_mean():
    same = [item("a", "An article.", "One summary.", 1.0), item("b", "An article.", "One  summary.", 1 / 3)]
    data = trainer(labels="share").prepare([*learnable_items(), *same])
    [label] = [each.label for each in data.train if each.article == "An article."]
    assert label == pytest.approx(2 / 3)


def test_the_share_of_yes_shows_what_leaving_out_does_to_it():
    torn = [item(str(each), "An article.", f"Text {each}.", 0.5) for each in range(1000, 1090)]
    skewed = [item(str(each), f"Article {each}.", "A text.", 1.0) for each in range(2000, 2090)]
    data = trainer().prepare([*learnable_items(), *torn, *skewed])
    assert data.counts["Share of yes in what is learnt"] > data.counts["Share of yes in all labels"]


def test_a_summary_without_text_is_left_out():
    data = trainer().prepare([*learnable_items(), item("b", "An article.", " \u200b", 1.0)])
    assert data.counts["Left out: no text"] == 1


@pytest.mark.parametrize(
    ("best_by", "words"), [("pearson", "Pearson's r"), ("auc", "ROC AUC"), ("loss", "loss")]
)
def test_few_validation_answers_are_warned_of(best_by, words):
    data = trainer(best_by=best_by).prepare(learnable_items(64, 18))
    [warning] = data.warnings
    assert warning.startswith("attribution: the validation examples have 9 yes and 9 no.")
    assert f"hardly tell the best checkpoint by {words}" in warning
    assert trainer(best_by=best_by).prepare(learnable_items(64, 20)).warnings == ()


def test_articles_without_a_usable_example_do_not_count_as_seen():
    data = trainer().prepare([*learnable_items(), item("a", "Unused.", "Half right.", 0.5)])
    assert len(data.articles["train"]) == 64


def test_the_order_of_items_does_not_matter():
    items = [
        *learnable_items(),
        *(item(str(each), "One.", f"No. {each}.", each % 2) for each in range(1000, 1009)),
    ]
    shuffled = random.Random(1).sample(items, len(items))
    assert trainer().prepare(items).digest == trainer().prepare(shuffled).digest


def test_class_weights_give_both_answers_the_same_weight():
    items = [each for each in learnable_items() if each.labels["attribution"] or int(each.id) % 3 == 0]
    data = trainer(class_weights="yes").prepare(items)
    sums = [sum(each.weight for each in data.train if each.label == label) for label in (0, 1)]
    assert sums[0] == pytest.approx(sums[1])
    assert sum(sums) == pytest.approx(len(data.train))


@pytest.mark.parametrize(
    ("items", "problem"),
    [
        ([], "No summary has a label for 'attribution'; there are labels for no question"),
        (learnable_items(dimension="grammar"), "there are labels for grammar"),
        (
            [item("a", "One.", "A.", 0.5)],
            "Of the train articles' summaries 0 are answered with yes .* 0 with no",
        ),
        (
            learnable_items(64, 1),
            "Of the validation articles' summaries 0 are answered with yes .* 1 with no",
        ),
    ],
)
def test_too_little_is_refused_with_what_is_missing(items, problem):
    with pytest.raises(CannotTrain, match=problem):
        trainer(validation_share="0.5").prepare(items)


@pytest.mark.parametrize("split", ["", "train"])
def test_two_articles_with_both_answers_suffice(split):
    items = [
        item(f"{article}{answer}", f"Article {article}.", f"Summary {answer}.", answer)
        for article in "ab"
        for answer in (0.0, 1.0)
    ]
    items = [replace(each, split=split) for each in items]
    data = trainer(test_share="0").prepare(items)
    assert (data.counts["Training articles"], data.counts["Validation articles"]) == (1, 1)
    with pytest.raises(
        CannotTrain, match=r"0 of 2 articles are test .* Collect more ratings there, or choose"
    ):
        trainer(test_share="0").prepare(items[:-1])


def test_the_test_share_is_blamed_only_where_it_chose_the_test_articles():
    items = [replace(each, split="") for each in learnable_items(8)]
    with pytest.raises(CannotTrain, match="question, or lower the test share"):
        trainer(test_share="0.9").prepare(items)
    with pytest.raises(CannotTrain, match=r"or choose another question\.$"):
        trainer(test_share="0.9").prepare([replace(each, split="test") for each in items])


def test_class_weights_need_classes():
    with pytest.raises(ValueError, match="found yes with labels=share"):
        trainer(class_weights="yes", labels="share")


def test_questions_are_required():
    with pytest.raises(ValueError, match="dimensions"):
        trainer(dimensions=",")
