"""Value parsers for diets, allergies and health."""

from __future__ import annotations

import regex as re

from recall_sql.models.rules.lexicon import alternatives, mapping
from recall_sql.models.rules.phrases import bare, singular, snake, split_list, trim
from recall_sql.models.rules.values import Context, Groups, Row, _nounlike, parser

_DIET = re.compile(
    rf"(?i)^(?:(?:a|an|the|trying|doing|following|eating|going|being|strict|strictly|fully|completely|"
    rf"lifelong|life-long|long-time|committed|proud|100%|on|following|ethical|total|pretty\s+strict|"
    rf"new|longtime|hardcore|devout|practising|practicing|part-time|almost|super|mainly|entirely|happy|"
    rf"very|bit)\s+)*(?P<diet>{alternatives('diets')})s?(?:\s+(?:diet|food|person|eater|lifestyle|"
    rf"meals|now|household|family|couple))?(?=$|[\s,.])(?!\s*-?\s*(?:restaurants?|recipes?|options?|"
    rf"friend|chef|shoes|leather|friendly|curious|cook|community|stuff))"
)


@parser
def diets(groups: Groups, context: Context) -> list[Row]:
    """Diets by name: "vegetarian", "gluten-free and vegan"."""
    rows = []
    for part in split_list(groups["obj"]):
        found = _DIET.match(part)
        if not found:
            break
        name = re.sub(r"\s+", " ", found.group("diet").lower())
        key = mapping("diets").get(name, mapping("diets").get(name.replace(" ", "-")))
        if key:
            rows.append({"fact_key": key, "item": "true"})
    return rows


_FOODS = (
    "meat|red meat|pork|beef|lamb|veal|poultry|chicken|fish|seafood|shellfish|shrimp|prawns|dairy|cheese|"
    "milk|eggs?|gluten|wheat|bread|sugar|added sugar|carbs|nuts|peanuts|soy|tofu|garlic|onions?|"
    "mushrooms?|spicy food|fried food|fast food|junk food|processed food|animal products|gelatin|honey|"
    "salt|caffeine|alcohol|grains|corn|tomatoes|raw fish|sushi|bananas?|chocolate|sweets|cilantro|"
    "coriander|olives|beans|lentils|potatoes|rice|pasta|tuna|salmon|duck|bacon|ham|offal|liver|eggplant|"
    "aubergine|peppers|bell peppers|celery|avocados?|coconut|lactose|butter|cream|yogurt|anything with "
    ".+|anything fried|anything spicy|anything containing .+|raw onions|blue cheese|citrus|strawberries|"
    "kiwi|nightshades|refined sugar|white bread|mayonnaise|mayo|desserts?|sodas?|animals"
)


FOOD = rf"(?:{'|'.join(_FOODS.split('|'))})"


@parser
def no_foods(groups: Groups, context: Context) -> list[Row]:
    """Foods not eaten: one key each, dietary/no_pork."""
    rows = []
    for part in split_list(trim(groups["obj"])):
        part = re.sub(
            r"(?i)^(?:any\s+kind\s+of|any|much|anything\s+(?:with|containing|made\s+with)|too\s+much|"
            r"a\s+lot\s+of|eat|eating|or)\s+",
            "",
            part,
        )
        part = re.sub(r"(?i)\s+(?:or\s+anything|products?|at\s+all|whatsoever)$", "", part)
        if re.fullmatch(rf"(?i){FOOD}", part):
            key = "animal_products" if part.lower() == "animals" else snake(part)
            rows.append(
                {
                    "fact_key": f"no_{singular(key) if key not in ('nuts',) and not key.endswith('ss') else key}",
                    "item": "true",
                }
            )
    return rows


_AGAIN = re.compile(r"(?i)\bagain\b")


@parser
def only_again(groups: Groups, context: Context) -> list[Row]:
    """Drinking takes something back only with "again"."""
    return [{"item": "true"}] if _AGAIN.search(context.clause.raw) else []


@parser
def foods_again(groups: Groups, context: Context) -> list[Row]:
    """Foods that are eaten again: the keys they had while they weren't."""
    return no_foods(groups, context) if _AGAIN.search(context.clause.raw) else []


@parser
def allergies(groups: Groups, context: Context) -> list[Row]:
    """Allergens, one row each, the key in the singular."""
    phrase = re.sub(r"(?i)\s+(?:of|from)\s+(?:all\s+kinds)$", "", trim(groups["obj"]))
    rows = []
    for part in split_list(phrase):
        part = re.sub(
            r"(?i)^(?:both|all\s+(?:kinds|types|sorts)\s+of|most|some|certain|any\s+kind\s+of|any|allergic\s+to|to)\s+",
            "",
            bare(part),
        )
        if (
            not _nounlike(part)
            or len(part.split()) > 4
            or re.match(
                r"(?i)(?:work|working|mornings?|mondays?|bullshit|stupid\w*|drama|nonsense|exercise|"
                r"people|meetings|cooking|effort|small\s+talk|bad\s+\w+|early\s+\w+|idiots|commitment|"
                r"homework|fun|housework)\b",
                part,
            )
        ):
            continue
        rows.append({"item": part, "key": snake(singular(part.lower()))})
    return rows


_CONDITION = re.compile(
    rf"(?i)^(?:(?:a|an|the|some|bad|terrible|severe|severely|mild|mildly|chronic|really|very|quite|"
    rf"slightly|occasional|frequent|awful|horrible|constant|regular|bit|little|pretty|a\s+bit|"
    rf"type\s+of|case\s+of|history\s+of|form\s+of|partially|completely|totally|extremely|clinically|"
    rf"six|seven|eight|five|four|three|two|\w+\s+(?:weeks?|"
    rf"months?))\s+)*(?P<c>{alternatives('conditions')})(?![\w-])(?!\s*(?:to\s+(?:see|hear|know|the|"
    rf"all)|about|of\s+(?:my|this|it|you|the)|date|spot|is\s|drunk|attack\s+(?:when|if)|pills?|"
    rf"medication|guide))"
)


@parser
def conditions(groups: Groups, context: Context) -> list[Row]:
    """Medical conditions of the lexicon, as key with value 'true'."""
    rows = []
    for part in re.split(
        r"(?i)\s*,\s*(?:and\s+)?|\s+and\s+(?:I\s+(?:have|get)\s+)?|\s+as\s+well\s+as\s+|\s+or\s+", groups["obj"]
    ):
        part = re.sub(
            r"(?i)^(?:(?:with|from|also|am|been|being|battling|fighting|having|getting|diagnosed\s+with)\s+)+",
            "",
            part.strip(),
        )
        found = _CONDITION.match(part)
        if not found:
            continue
        name = re.sub(r"\s+", " ", found.group("c").lower())
        key = (
            mapping("conditions").get(name)
            or mapping("conditions").get(name.replace(" ", "-"))
            or mapping("conditions").get(name.replace("-", " "))
        )
        if key:
            rows.append({"fact_key": key, "item": "true"})
    return rows


@parser
def meal(groups: Groups, context: Context) -> list[Row]:
    """What is usually eaten at a meal."""
    item = bare(trim(groups["obj"]))
    return (
        [{"item": item}]
        if item and not re.match(r"(?i)(?:enough|ideas?|options?|it|this|that|them|just|only|guests)\b", item)
        else []
    )


@parser
def only_now(groups: Groups, context: Context) -> list[Row]:
    """Eating fish or meat says something about a diet only with "now" or "again"."""
    return (
        [{"item": "true"}] if context.clause.now or re.search(r"(?i)\b(?:started|back)\b", context.clause.text) else []
    )


@parser
def injury(groups: Groups, context: Context) -> list[Row]:
    """ "broke my left leg" → broken_left_leg."""
    part = groups["item"].lower()
    verb = re.search(
        r"(?i)\b(broke|broken|sprained|fractured|tore|torn|injured|hurt|twisted|dislocated)\b", context.clause.text
    )
    how = (
        {"broke": "broken", "tore": "torn", "hurt": "injured"}.get(verb.group(1).lower(), verb.group(1).lower())
        if verb
        else "injured"
    )
    return [{"key": snake(f"{how} {part}"), "item": "true"}]


@parser
def bad_part(groups: Groups, context: Context) -> list[Row]:
    """ "my knees are bad" → bad_knees; eyes and ears are poor, not bad."""
    part = groups["part"].lower()
    return [{"fact_key": f"{'poor' if part in ('eyesight', 'hearing') else 'bad'}_{part}", "item": "true"}]
