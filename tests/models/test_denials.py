"""Plain denials, read by the rules: what they take back, and what only looks like one."""

from __future__ import annotations

import pytest

from recall_sql.models.rules import RulesExtractor
from tests.models.test_rules import known, short


def read(text: str) -> list[str]:
    return short(RulesExtractor().extract(text))


@pytest.mark.parametrize(
    "text, expected",
    [
        ("I'm not allergic to walnuts.", ["-allergy/allergy_walnut=walnuts"]),
        ("I was wrong, I am not allergic to walnuts after all", ["-allergy/allergy_walnut=walnuts"]),
        ("It turns out I'm not allergic to walnuts", ["-allergy/allergy_walnut=walnuts"]),
        ("I don't have a walnut allergy", ["-allergy/allergy_walnut=walnut"]),
        ("I have no walnut allergy", ["-allergy/allergy_walnut=walnut"]),
        ("Forget that I'm allergic to walnuts", ["-allergy/allergy_walnut=walnuts"]),
        ("I'm not allergic to nuts or eggs", ["-allergy/allergy_nut=nuts", "-allergy/allergy_egg=eggs"]),
        ("I'm not vegan", ["-dietary/vegan=true"]),
        ("im not a vegan", ["-dietary/vegan=true"]),
        ("I'm no vegetarian", ["-dietary/vegetarian=true"]),
        ("I don't have a dog", ["-pet/dog=dog"]),
        ("I have no dog", ["-pet/dog=dog"]),
        ("I haven't got a car.", ["-possession/car=car"]),
        ("I don't live in Berlin", ["-location/home_city=Berlin"]),
        ("I don't work at Siemens", ["-work/employer=Siemens"]),
        ("I don't speak Danish", ["-language/speaks_danish=Danish"]),
        ("I'm not diabetic", ["-health/diabetes=true"]),
        ("My name isn't Lena", ["-identity/name=Lena"]),
        ("I drink alcohol again", ["-habit/no_alcohol=true"]),
        ("I drink again", ["-habit/no_alcohol=true"]),
        ("I can eat dairy again", ["-dietary/no_dairy=true"]),
        ("I'm not allergic to walnuts, can you suggest a cake?", ["-allergy/allergy_walnut=walnuts"]),
    ],
)
def test_a_plain_denial_takes_back_what_its_positive_form_states(text, expected):
    assert read(text) == expected


@pytest.mark.parametrize(
    "text, expected",
    [
        ("I don't live in Berlin, I live in Bern", ["location/home_city=Bern"]),
        ("I live in Bern, I don't live in Berlin", ["location/home_city=Bern"]),
        ("I don't live in Berlin but in Bern", ["location/home_city=Bern"]),
        ("I don't work at Siemens but at Bosch", ["work/employer=Bosch"]),
        (
            "I'm not allergic to walnuts, but to peanuts",
            ["-allergy/allergy_walnut=walnuts", "allergy/allergy_peanut=peanuts"],
        ),
        ("I'm not vegan but vegetarian", ["-dietary/vegan=true", "dietary/vegetarian=true"]),
        ("I'm not only vegetarian but vegan", ["dietary/vegan=true"]),
        ("I don't have a dog, I have a cat", ["-pet/dog=dog", "pet/cat=cat"]),
        ("I'm not vegan, allergic to nuts, and live in Berlin", ["-dietary/vegan=true"]),
    ],
)
def test_what_is_said_instead_is_the_only_new_fact(text, expected):
    assert read(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "I'm not allergic to walnuts, am I?",
        "I'm not vegan, right?",
        "I'm not vegan?",
        "Why do you think I'm not vegan?",
        "Do you know that I don't have a dog?",
        "If I'm not vegan, what can I eat?",
        "I don't know if I'm vegan",
        "I think I'm not vegan",
        "I hope I'm not allergic to walnuts",
        "I don't think I'm allergic to walnuts",
        "she said I'm not vegan",
        "My wife isn't vegan",
        "You forget that I'm allergic to walnuts",
        "Let's pretend I'm not vegan.",
        "I'm not vegan yet",
        "I don't have a dog yet but I want one",
        "I'm not vegan because of the animals",
        "I'm not vegan on weekends",
        "I'm not strictly vegan",
        "I'm not always vegan",
        "I'm not very allergic to walnuts",
        "I'm not just a nurse",
        "I'm not the only vegan here",
        "I'm not saying I'm vegan",
        "I didn't say I'm vegan",
        "I don't speak Danish at home",
        "I don't speak Danish well",
        "I don't have my dog with me",
        "I don't have a car today",
        "I don't live alone in Berlin",
        "I don't work full-time at Siemens",
        "I'm not in Berlin right now",
        "I don't want to go to Paris",
        "I don't have any allergies",
        "I don't have a clue",
        "I drink coffee again",
    ],
)
def test_what_denies_less_or_isnt_ones_word_takes_nothing_back(text):
    assert read(text) == []


def test_a_warning_not_to_forget_is_no_denial():
    assert read("Don't forget that I'm allergic to walnuts") == ["allergy/allergy_walnut=walnuts"]


@pytest.mark.parametrize(("text", "replaced"), [("I no longer live in Bern", None), ("I don't live in Berlin", "b")])
def test_a_retraction_points_only_at_the_value_it_denies(text, replaced):
    held = [known("location", "home_city", "Berlin", alias="b")]
    (fact,) = RulesExtractor().extract(text, known=held)
    assert (fact.op, fact.replaces) == ("retract", replaced)
