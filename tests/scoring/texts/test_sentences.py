"""Splitting sentences in the languages of the data."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.imports.reading.blank_texts import is_blank
from scoring.texts.sentences import sentences, sentences_of

LANGUAGES = ["en", "de", "es", "ru", "tr", "vi"]

EXAMPLES = {
    "en": [
        ["Dr. Smith met Mr. Jones at 3 p.m. on Jan. 5.", "They talked."],
        ["J. K. Rowling wrote it.", "She is British."],
        ["Prices fell 3.5 percent.", "Why?", "Nobody knows!"],
        ['He said: "Stop!"', "Then he left."],
        ["The U.S. Senate voted.", "J.P. Morgan agreed."],
        ["Wait... what?", "Fine."],
    ],
    "de": [
        ["Am 3. Oktober feierte Dr. Müller z. B. den Tag der Einheit.", "Danach ging er heim."],
        ["Der 1. FC Köln gewann am 21. Spieltag.", "Das war im 19. Jahrhundert anders."],
        ["Sie ist 25.", "Er ist älter."],
        ["Das kostet ca. 5 Mio. Euro.", "Das ist viel."],
        ["Er sagte: „Halt!“", "Dann ging er."],
        ["Die Fa. Müller u. a. kamen.", "Kaiser Wilhelm II. floh."],
    ],
    "es": [
        ["El Sr. Pérez llegó a las 5 p.m. ayer.", "¿Por qué?", "Nadie sabe."],
        ["¡Hola!", "¿Cómo estás?", "Bien."],
        ["La Sra. García vive en EE. UU. desde 2010.", "D. Juan y Dña. Ana también."],
        ["El Dr. López dijo: «No».", "Luego salió."],
        ["J. L. Borges nació el 24 de agosto.", "Costó 3.500 euros."],
    ],
    "ru": [
        ["Президент В. В. Путин прибыл в г. Москву.", "Он выступил."],
        ["Завод им. Ленина стоит на пл. Мира.", "В 1999 г. он закрылся."],
        ["Он сказал: «Стой!»", "И ушёл."],
        ["Собака лаяла!", "Почему?", "Не знаю..."],
        ["Это стоит 5 тыс. руб. за штуку.", "Дорого."],
    ],
    "tr": [
        ["Dr. Ahmet Bey saat 15.30'da geldi.", "Sonra gitti."],
        ["2. Dünya Savaşı 1945'te bitti.", "19. yüzyılda değil."],
        ["Doç. Dr. Ayşe Yılmaz konuştu.", "II. Abdülhamit tahta çıktı."],
        ["Atatürk Cad. No. 5 adresinde oturuyor.", "Neden?"],
        ["Kitap, kalem vb. aldı.", "Eve döndü."],
    ],
    "vi": [
        ["TP. Hồ Chí Minh có mưa.", "Hà Nội nắng."],
        ["UBND TP.HCM họp.", "Ông Nguyễn Văn A. đến lúc 5 giờ."],
        ["GS. TS. Trần Văn B phát biểu.", "PGS.TS. Hà và ThS. Lan nghe."],
        ["Ông nói: “Dừng lại!”", "Rồi ông đi."],
        ["Giá là 3.500 đồng.", "Tại sao?", "Tôi không biết!"],
    ],
}


def test_abbreviations_initials_ordinals_and_quotes_do_not_end_a_sentence(subtests):
    for language, expected in ((name, each) for name in LANGUAGES for each in EXAMPLES[name]):
        with subtests.test(language=language, expected=expected):
            assert list(sentences(" ".join(expected), language)) == expected


def test_blank_text_has_no_sentences():
    assert sentences("") == sentences(" \n\t ") == ()


def test_empty_line_ends_a_sentence():
    assert sentences("A headline\n\nthe text begins. It goes on.") == (
        "A headline",
        "the text begins.",
        "It goes on.",
    )


def test_unknown_language_is_read_as_english():
    text = "Dr. Smith met Mr. Jones. They talked."
    assert sentences(text) == sentences(text, "en") == sentences(text, "en-GB") == sentences(text, "xx")


def test_chinese_sentences_need_no_spaces():
    assert sentences("猫坐在垫子上。很好。", "zh") == ("猫坐在垫子上。", "很好。")


def test_given_sentences_replace_the_splitter():
    assert sentences_of("One. Two.", "en", ("One. Two.", " ")) == ("One. Two.",)
    assert (
        sentences_of("One. Two.", "en", (" ",)) == sentences_of("One. Two.", "en", None) == ("One.", "Two.")
    )


PIECES = st.lists(
    st.sampled_from(
        ["Dr.", "TP.", "am", "3.", "II.", "word", "Word", "!", "?", "...", "\n\n", "“A”", "им.", "。"]
    )
    | st.text(max_size=6),
    max_size=20,
).map(" ".join)


def visible(text):
    return "".join(character for character in text if not is_blank(character))


@given(PIECES, st.sampled_from(LANGUAGES))
def test_only_what_is_invisible_is_lost(text, language):
    found = sentences(text, language)
    assert visible("".join(found)) == visible(text)
    assert all(each and each == each.strip() for each in found)


@given(PIECES, st.sampled_from(LANGUAGES))
def test_sentences_are_substrings_of_the_text(text, language):
    position = 0
    for each in sentences(text, language):
        position = text.index(each, position) + len(each)


@pytest.mark.parametrize("code", ["de", "DE", "de-DE", "de_AT"])
def test_language_may_have_region_and_capitals(code):
    assert sentences("Am 3. Mai kam Abg. Müller. Er blieb.", code) == (
        "Am 3. Mai kam Abg. Müller.",
        "Er blieb.",
    )
