"""The demo project's articles, gold set and ratings."""

import csv
import json
import re
from collections import Counter, defaultdict
from itertools import combinations, pairwise
from pathlib import Path

from annotation.protocol import SEAHORSE, is_complete

DEMO = Path(__file__).resolve().parents[3] / "annotation" / "demo"
LANGUAGES = {"en", "de", "es", "ru", "tr", "vi"}
SYSTEMS = {"lead-3", "abstractive-large", "hallucinator", "repeater", "broken-grammar", "word-salad"}
QUESTIONS = [question.key for question in SEAHORSE.questions]


def read_jsonl(name):
    return [json.loads(line) for line in (DEMO / name).read_text(encoding="utf-8").splitlines()]


EXAMPLES = read_jsonl("examples.jsonl")
SUMMARIES = {(row["article_id"], row["system"]): row["summary"] for row in EXAMPLES}
ARTICLES = [
    {
        "id": row["article_id"],
        "summaries": {
            system: text
            for (article, system), text in SUMMARIES.items()
            if article == row["article_id"] and system != "reference"
        },
        "reference": SUMMARIES[row["article_id"], "reference"],
        **row,
    }
    for row in EXAMPLES
    if "article" in row
]
GOLD = read_jsonl("gold.jsonl")
with (DEMO / "ratings.csv").open(encoding="utf-8", newline="") as ratings_file:
    RATINGS = list(csv.DictReader(ratings_file))

GOLD_ARTICLES = {item["article_id"]: item for item in GOLD}
LEADS = [
    (article["id"], article["article"], article["summaries"]["lead-3"])
    for article in ARTICLES
    if "lead-3" in article["summaries"]
] + [(item["article_id"], item["article"], item["summary"]) for item in GOLD if item["system"] == "lead-3"]


def sheets():
    """Return {(article id, system, rater): {question: value}} of the demo ratings."""
    found = defaultdict(dict)
    for row in RATINGS:
        found[row["article_id"], row["system"], row["rater"]][row["question"]] = row["value"]
    return found


def sentences(paragraph):
    return re.split(r"(?<=[.!?…])\s+", paragraph)


def words(text):
    return re.findall(r"\w+", text.casefold())


def is_tidy(text):
    """Return whether there are no stray blanks, and one blank line between paragraphs."""
    return all(part and part == " ".join(part.split()) for part in text.split("\n\n"))


def test_each_language_has_four_articles():
    assert Counter(article["language"] for article in ARTICLES) == dict.fromkeys(LANGUAGES, 4)


def test_article_ids_are_unique_and_name_their_language():
    ids = [article["id"] for article in ARTICLES] + list(GOLD_ARTICLES)
    assert len(set(ids)) == len(ids)
    for text in ARTICLES:
        assert text["id"].split("-")[0] == text["language"]
    for item in GOLD:
        assert item["article_id"].split("-")[0] == item["language"]


def test_articles_have_the_right_length_paragraphs_and_tidy_texts(subtests):
    for article in ARTICLES:
        with subtests.test(article["id"]):
            assert (article["system"], article["dataset"]) == ("reference", "touchstone-demo")
            assert article["split"] == ("train" if article["id"].endswith("-01") else "test")
            assert 120 <= len(article["article"].split()) <= 400
            assert len(article["article"].split("\n\n")) >= 3
            assert 1 <= len(sentences(article["reference"])) <= 3
            for text in (
                article["title"],
                article["article"],
                article["reference"],
                *article["summaries"].values(),
            ):
                assert is_tidy(text)


def test_each_article_has_four_different_system_summaries():
    for article in ARTICLES:
        assert len(article["summaries"]) == 4
        assert set(article["summaries"]) <= SYSTEMS
        assert len({*article["summaries"].values(), article["reference"]}) == 5


def test_each_language_has_all_systems_and_no_system_is_rare():
    seen = defaultdict(set)
    for article in ARTICLES:
        seen[article["language"]] |= set(article["summaries"])
    assert seen == dict.fromkeys(LANGUAGES, SYSTEMS)
    counts = Counter(system for article in ARTICLES for system in article["summaries"])
    assert all(12 <= counts[system] <= 20 for system in SYSTEMS)


def test_lead_3_is_the_first_three_sentences_of_its_article(subtests):
    for name, article, lead in LEADS:
        with subtests.test(name):
            # No first paragraph holds an abbreviation or an ordinal, so a full stop ends a sentence.
            assert lead == " ".join(sentences(article.split("\n\n")[0])[:3])
            assert len(sentences(lead)) == 3


def longest_repeated_phrase(text):
    """Return the number of words in the longest phrase that `text` repeats."""
    tokens = words(text)
    lengths = range(len(tokens) - 1, 0, -1)
    for length in lengths:
        runs = Counter(tuple(tokens[start : start + length]) for start in range(len(tokens) - length + 1))
        if max(runs.values()) > 1:
            return length
    return 0


def test_the_repeater_repeats_itself():
    texts = [text for (_, system), text in SUMMARIES.items() if system == "repeater"]
    texts += [item["summary"] for item in GOLD if item["system"] == "repeater"]
    for text in texts:
        counts = Counter(words(text))
        assert longest_repeated_phrase(text) >= 2, text
        assert sum(n for n in counts.values() if n > 1) / sum(counts.values()) > 0.5, text


def test_word_salad_copies_no_phrase_from_its_article():
    for article in ARTICLES:
        salad, source = words(article["summaries"].get("word-salad", "")), words(article["article"])
        phrases = set(zip(source, source[1:], source[2:], strict=False))
        assert not phrases & set(zip(salad, salad[1:], salad[2:], strict=False)), article["id"]


def test_the_gold_set_has_six_items_per_language_on_unrated_articles():
    assert Counter(item["language"] for item in GOLD) == dict.fromkeys(LANGUAGES, 6)
    assert not set(GOLD_ARTICLES) & {article["id"] for article in ARTICLES}
    assert len({(item["article_id"], item["system"]) for item in GOLD}) == len(GOLD)
    assert {item["system"] for item in GOLD} == SYSTEMS


def test_gold_items_with_one_article_id_have_the_same_text():
    texts = {(item["article_id"], item["language"], item["title"], item["article"]) for item in GOLD}
    assert len(texts) == len(GOLD_ARTICLES) == 12


def test_gold_answers_are_complete_and_explained(subtests):
    for item in GOLD:
        with subtests.test(f"{item['article_id']}-{item['system']}"):
            assert (item["dataset"], item["split"]) == ("touchstone-demo", "test")
            assert 80 <= len(item["article"].split()) <= 150
            assert is_tidy(item["title"])
            assert is_tidy(item["article"])
            assert is_tidy(item["summary"])
            answers = item["answers"]
            assert is_complete(SEAHORSE, {question: answer["value"] for question, answer in answers.items()})
            assert list(answers) == QUESTIONS[: len(answers)]
            for answer in answers.values():
                assert set(answer) == {"value", "explanation"}
                assert is_tidy(answer["explanation"])
                assert len(answer["explanation"].split()) >= 3


def test_explanations_quote_only_the_summary_or_the_article(subtests):
    for item in GOLD:
        with subtests.test(f"{item['article_id']}-{item['system']}"):
            text = (item["summary"] + " " + item["article"]).casefold()
            for answer in item["answers"].values():
                for quoted in re.findall("“([^”]+)”", answer["explanation"]):
                    for piece in quoted.split("…"):
                        assert piece.strip(" -").casefold() in text, quoted


def test_the_gold_set_has_yes_and_no_for_each_question_in_each_language():
    values = defaultdict(set)
    for item in GOLD:
        for question, answer in item["answers"].items():
            values[item["language"], question].add(answer["value"])
    assert values == {(language, question): {"yes", "no"} for language in LANGUAGES for question in QUESTIONS}


def test_ratings_have_the_columns_of_a_ratings_file_and_no_duplicates():
    assert list(RATINGS[0]) == ["article_id", "system", "rater", "question", "value", "comment"]
    rows = [(row["article_id"], row["system"], row["rater"], row["question"]) for row in RATINGS]
    assert len(set(rows)) == len(rows)
    assert all(re.fullmatch(r"rater-[a-z]+", row["rater"]) for row in RATINGS)
    assert {row["value"] for row in RATINGS} == {"yes", "no", "unsure"}
    assert 10 <= sum(bool(row["comment"]) for row in RATINGS) <= 30


def test_each_rating_is_for_a_production_summary_and_follows_the_protocol():
    for (article, system, _), sheet in sheets().items():
        assert (article, system) in SUMMARIES
        assert is_complete(SEAHORSE, sheet)
        assert list(sheet) == QUESTIONS[: len(sheet)]


def test_the_rows_of_a_rating_are_adjacent():
    keys = [(row["article_id"], row["system"], row["rater"]) for row in RATINGS]
    changes = 1 + sum(before != after for before, after in pairwise(keys))
    assert changes == len(set(keys))


def test_six_raters_work_in_two_to_four_languages_each():
    languages = defaultdict(set)
    for article, _, rater in sheets():
        languages[rater].add(article.split("-")[0])
    assert len(languages) == 6
    assert all(2 <= len(spoken) <= 4 for spoken in languages.values())
    assert set().union(*languages.values()) == LANGUAGES


def test_about_60_percent_are_rated_and_a_third_of_them_three_times():
    raters = Counter((article, system) for article, system, _ in sheets())
    assert 0.55 <= len(raters) / len(SUMMARIES) <= 0.65
    assert set(raters.values()) == {1, 3}
    assert 0.28 <= sum(n == 3 for n in raters.values()) / len(raters) <= 0.38


def test_ratings_follow_each_systems_intended_quality(subtests):
    cases = [
        ("reference", "attribution", "yes"),
        ("abstractive-large", "main_ideas", "yes"),
        ("lead-3", "attribution", "yes"),
        ("hallucinator", "attribution", "no"),
        ("repeater", "repetition", "no"),
        ("repeater", "conciseness", "no"),
        ("broken-grammar", "grammar", "no"),
        ("word-salad", "comprehensibility", "no"),
    ]
    for system, question, value in cases:
        with subtests.test(system=system, question=question, value=value):
            given = [
                row["value"] for row in RATINGS if (row["system"], row["question"]) == (system, question)
            ]
            assert given.count(value) / len(given) >= 0.75


def test_raters_disagree_sometimes_and_most_on_conciseness():
    by_unit = defaultdict(list)
    for row in RATINGS:
        by_unit[row["question"], row["article_id"], row["system"]].append(row["value"])
    pairs = defaultdict(list)
    for (question, *_), values in by_unit.items():
        pairs[question] += [one == other for one, other in combinations(values, 2)]
    agreement = {question: sum(same) / len(same) for question, same in pairs.items()}
    assert min(agreement, key=agreement.get) == "conciseness"
    assert 0.65 <= agreement.pop("conciseness") <= 0.85
    assert all(0.85 <= value < 1 for value in agreement.values())
