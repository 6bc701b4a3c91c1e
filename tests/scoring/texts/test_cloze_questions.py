"""Finding names and numbers as answers of cloze questions."""

from scoring.texts.cloze_questions import answer_spans, cloze_questions


def test_finds_names_and_numbers(subtests):
    cases = [
        ("The harbour of Port Alder froze for 9 days in January.", ["Port Alder", "9", "January"]),
        ("Emma Brandström cried.", ["Brandström"]),
        ("“Le Petit Chat” won 5,000 € in Zürich.", ["Petit Chat", "5,000", "Zürich"]),
        ("It rose by 3.5 percent in 2004.", ["3.5", "2004"]),
        ("The mayor of Tarn's dog met Jean-Luc O'Brien, Ann and B.", ["Tarn", "Jean-Luc O'Brien", "Ann"]),
        ("Nobody came.", []),
        ("He said I was 1st in the A320 of 2nd class.", []),
        ("В Петрозаводске директор Ольга Седова (1911).", ["Петрозаводске", "Ольга Седова", "1911"]),
        ("Một đám cháy tại chợ Đồng Xuân.", ["Đồng Xuân"]),
        ("Am Montag sprach der Minister.", ["Montag", "Minister"]),
        ("猫在2021年坐在垫子上。", ["2021"]),
        ("猫坐在垫子上。", []),
    ]
    for sentence, answers in cases:
        with subtests.test(sentence=sentence, answers=answers):
            assert [sentence[start:end] for start, end in answer_spans(sentence)] == answers


def test_each_answer_has_its_own_question():
    assert cloze_questions(["We met Ann and Ann.", "No.", "It was 9."]) == [
        ("We met MASKED and Ann.", "Ann"),
        ("We met Ann and MASKED.", "Ann"),
        ("It was MASKED.", "9"),
    ]
    assert len(cloze_questions(["We met Ann and Ann."], most=1)) == 1
