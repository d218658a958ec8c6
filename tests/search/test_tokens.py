"""search_tokens and search_terms."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_sql.errors import InputError
from recall_sql.functions.tokens import terms, tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The cats' 3,000.50 Zürich-trips", ["the", "cat", "3000.50", "zurich", "trip"]),
        ("don't l'homme", ["don't", "l", "homm"]),
        ("ﬁne ＡＢＣ Straße", ["fine", "abc", "strass"]),
        ("3:30pm v0.6.2 fact_key", ["3", "30pm", "v0", "6.2", "fact", "key"]),
        ("猫と犬", ["猫と", "と犬", "猫", "と", "犬"]),
        ("ข้าว", ["ข้า", "าว"]),
        ("рыбу РЫБА", ["рыб", "рыб"]),
        ("हिन्दी", ["हिन्द"]),
        ("🙂 … !", []),
    ],
)
def test_tokens(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


def test_a_long_run_without_blanks_is_found_to_its_end() -> None:
    assert tokens("ก" * 600 + "ข้าว")[-2:] == ["ข้า", "าว"]
    assert "猫" in tokens("犬" * 600 + "猫")


@pytest.mark.parametrize(("said", "times"), [("x", 2**24), ("1,", 2**23), ("l'", 2**16), ("é", 2**18)])
def test_megabytes_without_a_blank(said: str, times: int) -> None:
    found = tokens(said * times + " cats")
    assert found[-1] == "cat" and all(len(token) <= 64 for token in found)


def test_terms_leave_function_words_out_unless_there_is_nothing_else() -> None:
    assert terms("What did I say about the trains, the trains?") == ["say", "train"]
    assert terms("who are you?") == ["who", "are", "you"]
    assert terms("猫と犬") == ["猫と", "と犬"]


def test_another_language() -> None:
    assert tokens("die Häuser", "german") == ["die", *tokens("Haus", "german")]
    with pytest.raises(InputError, match="klingon"):
        tokens("a", "klingon")


@given(st.text(max_size=60))
def test_letters_and_digits_never_vanish(text: str) -> None:
    found = tokens(text)
    assert all(found)
    if any(unicodedata.category(char) in ("Lu", "Ll", "Lo", "Nd") for char in unicodedata.normalize("NFKC", text)):
        assert found and terms(text)
