"""The labelled summaries that ICE shows as examples, and the limit of the model's context."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers

from scoring.contract.evaluator import EvaluatorError
from scoring.contract.fingerprints import fingerprint
from scoring.contract.items import PoolExample
from scoring.contract.seen import Seen
from tests.scoring.ice_setup import ITEM, POOL, ice


class TestDraw:
    def drawn(self, dimension="fluency", pool=POOL, **settings):
        return ice(pool=pool, **settings).provenance()["examples"][dimension]

    def test_examples_are_of_different_articles(self):
        drawn = self.drawn(examples=12)
        assert len({each.split("-")[0] for each in drawn}) == 12

    def test_seed_decides_the_draw_and_pool_order_does_not(self):
        assert self.drawn() == self.drawn(pool=POOL[::-1])
        assert self.drawn() != self.drawn(seed=1)

    def test_drawn_examples_alone_give_the_same_evaluator(self, subtests):
        for seed in range(5):
            for sampling in ["uniform", "stratified"]:
                with subtests.test(sampling=sampling, seed=seed):
                    evaluator = ice(sampling=sampling, seed=seed)
                    seen = [each for each in POOL if each.id in evaluator.seen.example_ids]
                    again = ice(pool=seen, sampling=sampling, seed=seed)
                    assert fingerprint(again) == fingerprint(evaluator)
                    assert again.prompt("relevance", ITEM) == evaluator.prompt("relevance", ITEM)

    def test_every_example_is_drawn_about_equally_often(self):
        draws = Counter(self.drawn(seed=seed, examples=1)[0] for seed in range(720))
        assert set(draws) == {each.id for each in POOL}
        # 720 draws from 36: 20 expected, standard deviation 4.4
        assert max(draws.values()) < 40

    def test_only_usable_examples_are_drawn(self):
        unusable = [
            replace(POOL[0], id="unlabelled", labels={"fluency": 0.5}),
            replace(POOL[3], id="no article", article=" "),
            replace(POOL[6], id="empty", summary=""),
        ]
        drawn = self.drawn("consistency", [*unusable, *POOL[9:]], examples=9, dimensions="consistency")
        assert not {"unlabelled", "no article", "empty"} & set(drawn)

    def test_too_small_a_pool_is_a_permanent_error(self):
        with pytest.raises(
            EvaluatorError, match="fluency needs 4 labelled examples of different articles"
        ) as error:
            ice(pool=POOL[:9], dimensions="fluency")
        assert "the pool has 3" in str(error.value)
        assert error.value.permanent

    def test_a_pool_without_labels_is_refused(self):
        with pytest.raises(EvaluatorError, match="no label"):
            ice(pool=[])

    def test_pool_dimension_without_a_description_is_refused(self):
        with pytest.raises(EvaluatorError, match="found nothing for the dimension 'focus'"):
            ice(pool=[replace(each, labels={"focus": 0.5}) for each in POOL])

    def test_articles_of_drawn_examples_count_as_seen(self):
        evaluator = ice(dimensions="fluency")
        ids = evaluator.provenance()["examples"]["fluency"]
        assert sorted(ids) == list(evaluator.seen.example_ids)
        assert evaluator.seen.all_article_ids == {f"a{each.split('-')[0]}" for each in ids}
        assert evaluator.seen != Seen()

    def test_labels_of_other_dimensions_do_not_change_the_fingerprint(self):
        changed = [replace(each, labels={**each.labels, "relevance": 0.0}) for each in POOL]
        one, two = (ice(pool=pool, dimensions="fluency") for pool in (POOL, changed))
        assert fingerprint(one) == fingerprint(two)

    def test_stratified_draw_takes_one_example_from_each_quarter(self):
        pool = [replace(each, labels={"fluency": number % 9 / 8}) for number, each in enumerate(POOL)]
        by_id = {each.id: each.labels["fluency"] for each in pool}
        for seed in range(10):
            low, second, third, high = sorted(
                by_id[each]
                for each in self.drawn(pool=pool, sampling="stratified", pool_articles=0, seed=seed)
            )
            assert low <= 0.25 < second <= 0.5 < third <= 0.75 < high

    @pytest.mark.parametrize("sampling", ["uniform", "stratified"])
    def test_all_dimensions_share_the_requested_number_of_articles(self, sampling):
        def seen(**settings):
            return len(ice(sampling=sampling, **settings).seen.all_article_ids)

        assert seen() == 4
        assert seen(examples=2, pool_articles=3) <= 3
        assert seen(examples=6) == 6

    def test_other_seeds_choose_other_articles(self):
        articles = {ice(seed=seed).seen.all_article_ids for seed in range(20)}
        assert len(articles) > 15

    def test_dimensions_without_common_articles_draw_separately(self):
        pool = [
            replace(each, labels={("fluency", "consistency")[number % 36 // 18]: 0.5})
            for number, each in enumerate(POOL)
        ]
        seen = ice(pool=pool).seen
        assert len(seen.all_article_ids) == 8
        assert {name: len(ids) for name, ids in seen.article_ids.items()} == {"consistency": 4, "fluency": 4}


LABELS = st.fixed_dictionaries(
    {},
    optional={"consistency": st.sampled_from([0, 0.3, 1]), "fluency": st.sampled_from([0, 0.3, 0.5, 0.6, 1])},
)


@given(
    st.lists(st.tuples(st.integers(0, 6), LABELS, st.booleans()), min_size=1, max_size=16),
    st.integers(1, 3),
    st.integers(0, 9),
    st.sampled_from(["uniform", "stratified"]),
    st.sampled_from([0, 1, 2, 4]),
    st.sampled_from(["decimals", "yes_no"]),
)
def test_worker_with_only_the_drawn_examples_shows_the_same_ones(
    rows, count, seed, sampling, articles, marks
):
    pool = [
        PoolExample(f"{number}", f"a{article}", "A summary.", labels, "An article." if has_article else None)
        for number, (article, labels, has_article) in enumerate(rows)
    ]
    settings = {
        "examples": count,
        "seed": seed,
        "sampling": sampling,
        "pool_articles": articles,
        "marks": marks,
    }
    try:
        evaluator = ice(pool=pool, **settings)
    except EvaluatorError:
        return
    again = ice(pool=[each for each in pool if each.id in evaluator.seen.example_ids], **settings)
    assert fingerprint(again) == fingerprint(evaluator)


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    """Return the folder of a model whose tokenizer makes each word and punctuation mark a token."""
    folder = tmp_path_factory.mktemp("words")
    tokenizer = Tokenizer(models.WordLevel({"?": 0}, unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "model.safetensors").touch()
    return str(folder)


class TestContext:
    """Each example about fluency is a line of about 30 characters and a score."""

    SETTINGS = {"dimensions": "fluency", "max_tokens": 10}

    def test_everything_fits_without_a_limit(self):
        huge = [replace(each, summary="word " * 10_000) for each in POOL]
        assert len(ice(pool=huge, **self.SETTINGS).provenance()["examples"]["fluency"]) == 4

    def refused(self, **settings):
        with pytest.raises(EvaluatorError) as raised:
            ice(**{**self.SETTINGS, **settings})
        assert raised.value.permanent
        return str(raised.value)

    def test_error_gives_the_largest_number_of_examples_that_fits(self):
        for sampling in ("uniform", "stratified"):
            message = self.refused(examples=12, context_tokens=350, sampling=sampling)
            assert message.startswith("parameter 'examples': found 12, expected at most ")
            most = int(message.split("at most ")[1].split(":")[0])
            assert 1 < most < 12
            ice(**self.SETTINGS, examples=most, context_tokens=350, sampling=sampling)
            self.refused(examples=most + 1, context_tokens=350, sampling=sampling)

    def test_error_says_if_not_even_one_example_fits(self):
        assert "not even 1 fits" in self.refused(context_tokens=80)

    def test_dimension_with_the_longest_examples_decides(self):
        pool = [replace(each, article="word " * 400) for each in POOL]
        assert "examples of consistency" in self.refused(pool=pool, dimensions="", context_tokens=3000)

    def test_reply_needs_room_in_the_context(self):
        ice(**self.SETTINGS, context_tokens=400)
        assert "not even 1" in self.refused(max_tokens=400, context_tokens=400)

    def test_described_prompt_needs_more_room(self):
        ice(**self.SETTINGS, context_tokens=400)
        assert "not even 1" in self.refused(prompt="described", context_tokens=400)

    def test_named_tokenizer_counts_the_tokens(self, words):
        assert "at most" in self.refused(context_tokens=250)
        ice(**self.SETTINGS, context_tokens=250, tokenizer=words)
        assert "at most" in self.refused(context_tokens=130, tokenizer=words)

    def test_tokenizer_is_in_the_fingerprint(self, words):
        assert len(ice(**self.SETTINGS, tokenizer=words).provenance()["tokenizer"]) == 64
        assert "tokenizer" not in ice(**self.SETTINGS).provenance()

    def test_missing_tokenizer_is_refused_before_the_run(self):
        assert "not on this machine" in self.refused(context_tokens=400, tokenizer="nobody/nothing")

    def test_too_long_summary_is_not_sent(self):
        evaluator = ice(**self.SETTINGS, context_tokens=400)
        [scored] = evaluator.score([replace(ITEM, summary="word " * 2000)])
        assert scored.reasons == {"fluency": "longer than the model's context"}
        assert not scored.explanations
