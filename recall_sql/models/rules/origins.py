"""Value parsers for languages, nationality and faith."""

from __future__ import annotations

import regex as re

from recall_sql.models.rules.lexicon import alternatives
from recall_sql.models.rules.phrases import snake, split_list
from recall_sql.models.rules.values import Context, Groups, Row, parser


@parser
def languages(groups: Groups, context: Context) -> list[Row]:
    """Languages by name; `prefix` of the pattern makes the key."""
    rows = []
    groups = {**groups, "obj": re.sub(r"(?i)^(?:\w+\s+)?languages\s*(?::|,|-)\s*", "", groups["obj"])}
    for part in split_list(
        re.sub(
            r"(?i)\s+(?:fluently|natively|at\s+home|well|badly|conversationally|at\s+(?:a|an)\s.*|"
            r"with\s+my.*|poorly|perfectly)(?=\s|,|$)",
            "",
            groups["obj"],
        )
    ):
        part = re.sub(
            r"(?i)^(?:(?:conversational|fluent|proficient|basic)\s+in\s+|a\s+(?:bit|little)\s+(?:of\s+)?|some\s+|fluent\s+|basic\s+|native\s+|"
            r"conversational\s+|passable\s+|broken\s+|decent\s+|good\s+|perfect\s+|both\s+|only\s+|"
            r"very\s+little\s+|bad\s+|enough\s+|mostly\s+|a\s+few\s+words\s+of\s+|intermediate\s+|"
            r"advanced\s+|beginner\s+|how\s+to\s+speak\s+|to\s+speak\s+)+",
            "",
            part,
        )
        found = re.match(rf"(?i)({alternatives('languages')})(?![\w-])", part)
        if found and not re.match(r"(?i)\s*(?:cooking|cuisine|food|history|literature|to\s+you)", part[found.end() :]):
            low = found.group(1).lower()
            rows.append(
                {
                    "item": low.upper() if low in ("asl", "bsl") else " ".join(w.capitalize() for w in low.split()),
                    "key": snake(low),
                }
            )
    return rows


@parser
def nationality(groups: Groups, context: Context) -> list[Row]:
    """ "I'm half Greek", "I'm Italian"."""
    found = re.match(
        rf"(?i)^(?:(?:an?|half|part|originally|born|proudly|ethnically|of|"
        rf"originally)\s+)*({alternatives('nationalities')})(?:[\s-]({alternatives('nationalities')}))?(?:(?:,"
        rf"|\s+and)+\s+(?:half|part)\s+{alternatives('nationalities')})*(?:\s+(?:citizen|national|guy|"
        rf"girl|woman|man|by\s+birth|origin|descent|expat|living|but|and\s+(?:live|I|my)|here|heritage|"
        rf"student|immigrant)\b.*)?$",
        groups["obj"].strip(),
    )
    if not found:
        return []
    if re.match(r"(?i)(?:half|part)\b", groups["obj"]):
        return [{"item": groups["obj"].strip()}]
    names = [" ".join(w.capitalize() for w in g.split()) for g in found.groups() if g]
    return [{"item": "-".join(names)}]


@parser
def religion(groups: Groups, context: Context) -> list[Row]:
    """A faith by name."""
    found = re.match(
        rf"(?i)^(?:(?:an?|practi[sc]ing|devout|non-practi[sc]ing|lapsed|religious|"
        rf"raised)\s+)*({alternatives('religions')})(?=$|,|\s+(?:and|so|but|by)\b)",
        groups["obj"].strip(),
    )
    return (
        [
            {
                "item": found.group(1).capitalize()
                if found.group(1).lower() not in ("atheist", "agnostic")
                else found.group(1).lower()
            }
        ]
        if found
        else []
    )


LANGUAGE_WORD = rf"\b{alternatives('languages')}\b"
