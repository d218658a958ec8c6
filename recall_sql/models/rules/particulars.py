"""Value parsers that adapt the ones of `values`, `topics` and `standing` to a single pattern each."""

from __future__ import annotations

import regex as re

from recall_sql.models.rules import places, quantities, standing, topics, values
from recall_sql.models.rules.lexicon import alternatives, mapping, words
from recall_sql.models.rules.phrases import bare, gerund, singular, snake, split_list, trim
from recall_sql.models.rules.values import Context, Groups, Row, parser, proper_name


@parser
def persona(groups: Groups, context: Context) -> list[Row]:
    """A type of person: key and value are the noun itself."""
    item = groups["item"]
    return [{"item": "true", "key": snake({"introverted": "introvert", "extroverted": "extrovert"}.get(item.lower(), item))}]


@parser
def timezone(groups: Groups, context: Context) -> list[Row]:
    """A time zone abbreviation; other capitals are none."""
    item = groups["item"]
    return [{"item": item}] if re.match(r"(?i)(?:utc|gmt|cet|cest|est|edt|pst|pdt|cst|cdt|mst|bst|ist|jst|aest|eet|wet|pacific|eastern|central|mountain)", item) and (re.search(r"(?i)time", item) or item.upper() == item) else []


@parser
def teaches(groups: Groups, context: Context) -> list[Row]:
    """"I teach chemistry at a high school": a teacher of something."""
    subject = re.split(r"(?i)\s+(?:at|to|in|for|part-time|online|on|every|and)\s+", trim(groups["obj"]))[0]
    if not subject or len(subject.split()) > 3 or re.match(r"(?i)(?:a|an|the|people|myself|yoga\s+class)\b", subject):
        return []
    return [{"fact_key": "job_title", "item": f"{subject} teacher"}]


@parser
def office(groups: Groups, context: Context) -> list[Row]:
    """The city of the workplace."""
    parts = values.place_parts(groups["obj"])
    return [{"item": parts[0][1]}] if parts else []


@parser
def named_relatives(groups: Groups, context: Context) -> list[Row]:
    """"my kids, Ben and Lucy": their names in one list."""
    rel = {"kids": "child", "children": "child", "twins": "child", "boys": "son", "girls": "daughter", "grandkids": "grandchild", "grandchildren": "grandchild"}.get(groups["rel"].lower(), singular(groups["rel"].lower()))
    return [{"fact_key": f"{rel}_names", "item": ", ".join(split_list(groups["names"]))}]


@parser
def newborn(groups: Groups, context: Context) -> list[Row]:
    """"we had a baby girl"."""
    rel = {"girl": "daughter", "boy": "son"}.get(groups["rel"].lower(), groups["rel"].lower())
    return [{"fact_key": rel, "item": proper_name(groups.get("obj") or "") or "true"}]


@parser
def learning_goal(groups: Groups, context: Context) -> list[Row]:
    """"learning to drive" → learn to drive."""
    return standing.goal({"obj": f"learn {groups['how']}to {groups['obj']}", "sure": "yes"}, context)


@parser
def spouse(groups: Groups, context: Context) -> list[Row]:
    """"married to Tom"."""
    named = proper_name(groups["obj"])
    return [{"fact_key": "spouse" if groups["how"].lower() == "married" else "fiance", "item": named}] if named else []


@parser
def my_pet(groups: Groups, context: Context) -> list[Row]:
    """"my cat Mochi", "our dogs are Rex and Bo"."""
    text = groups.get("names") or ""
    text = re.split(r"(?i)\s+(?:is|has|likes?|loves?|was|who|which|hates?|keeps?|just|needs?|will|gets?|for|to|with|in|on)\b", text)[0]
    return values.named_pet({"animal": groups["animal"], "names": text, "called": groups.get("called") or "", "n": ""}, context)


@parser
def pet_kind(groups: Groups, context: Context) -> list[Row]:
    """"I keep chickens": the kind in the plural, no number."""
    animal = values._animal(groups["animal"])
    return [{"fact_key": f"{snake(animal)}s", "item": values._plural(animal)}]


@parser
def meal(groups: Groups, context: Context) -> list[Row]:
    """What is usually eaten at a meal."""
    item = bare(trim(groups["obj"]))
    return [{"item": item}] if item and not re.match(r"(?i)(?:enough|ideas?|options?|it|this|that|them|just|only|guests)\b", item) else []


@parser
def only_now(groups: Groups, context: Context) -> list[Row]:
    """Eating fish or meat says something about a diet only with "now" or "again"."""
    return [{"item": "true"}] if context.clause.now or re.search(r"(?i)\b(?:started|back)\b", context.clause.text) else []


@parser
def item_key(groups: Groups, context: Context) -> list[Row]:
    """The matched noun is the key."""
    item = bare(groups["item"])
    return [{"item": item, "key": snake(item)}]


@parser
def injury(groups: Groups, context: Context) -> list[Row]:
    """"broke my left leg" → broken_left_leg."""
    part = groups["item"].lower()
    verb = re.search(r"(?i)\b(broke|broken|sprained|fractured|tore|torn|injured|hurt|twisted|dislocated)\b", context.clause.text)
    how = {"broke": "broken", "tore": "torn", "hurt": "injured"}.get(verb.group(1).lower(), verb.group(1).lower()) if verb else "injured"
    return [{"key": snake(f"{how} {part}"), "item": "true"}]


_DEGREES = (("phd", r"ph\.?d|doctor"), ("MBA", r"mba"), ("master's", r"master|msc|m\.?a\b|m\.?s\b|mfa|llm|meng"), ("bachelor's", r"bachelor|bsc|b\.?a\b|b\.?s\b|beng|llb"))


@parser
def degree(groups: Groups, context: Context) -> list[Row]:
    """"a master's in physics from MIT": degree, field and university."""
    if re.search(r"(?i)^degree\s*$", groups["deg"]) and not groups.get("field"):
        return []
    rows: list[Row] = [{"fact_key": "degree", "item": groups["deg"].strip()}]
    if groups.get("field"):
        rows += [r for r in topics.field({"obj": groups["field"]}, context)]
    if groups.get("at"):
        rows += [{"fact_key": "university", **row} for row in topics.study_place({"obj": groups["at"]}, context)]
    return rows


_SCHOOL = re.compile(r"(?i)\b(?:university|college|school|institute|academy|uni|polytechnic|mit|ucla|eth|stanford|harvard|yale|oxford|cambridge|princeton|berkeley|lse|ucl|nyu|epfl|caltech|sorbonne|georgia\s+tech|tu\s+\w+|cornell|columbia|dartmouth|brown|duke|usc|state|imperial|tech)\b")


@parser
def university(groups: Groups, context: Context) -> list[Row]:
    """A school by name; "go to Rome" is none, "study at Leeds" is one."""
    rows = topics.study_place(groups, context)
    if rows and (_SCHOOL.search(rows[0]["item"]) or re.search(r"(?i)\b(?:stud(?:y|ied|ying)|enrolled|student|accepted)\b", context.clause.text)):
        return rows
    return []


_FACULTY = re.compile(r"(?i)\b(?:University|College|Hospital|School|Church|Store|Restaurant|Academy|Gym|Conference|Park Street|IKEA|Costco|Walmart|Target|Starbucks|McDonald's|Mass|Festival|Inc|Ltd|Corp)\b")


@parser
def travel_to(groups: Groups, context: Context) -> list[Row]:
    """Places of a journey; the verb is weak ("go", "see"), so the gazetteer must know the first of them."""
    if _FACULTY.search(groups["obj"][:60]):
        return []
    parts = values.place_parts(groups["obj"])
    strong = re.search(r"(?i)\b(?:fly|flying|travel|travell?ing|stay(?:ing)?|trip|holiday|vacation|visit(?:ing)?|backpack\w*|tour\w*|honeymoon\w*|cruis\w*|head(?:ing|ed))\b", context.clause.text)
    if not parts or (parts[0][0] == "unknown" and not (strong and re.search(r"(?i)\b(?:to|in|around|across|through)\s+$", context.clause.text[: context.clause.text.find(groups["obj"])]))):
        return []
    return values.destinations(groups, context)


@parser
def gazetted(groups: Groups, context: Context) -> list[Row]:
    """Only places the gazetteer knows."""
    parts = values.place_parts(groups["obj"])
    return values.destinations(groups, context) if parts and all(kind != "unknown" for kind, _ in parts) else []


@parser
def trip_length(groups: Groups, context: Context) -> list[Row]:
    """Days of a "10-day trip"."""
    n = quantities.number(groups["n"])
    return [{"n": str(n * {"day": 1, "night": 1, "week": 7, "month": 30}[groups["unit"].lower()])}] if n else []


@parser
def travel_month(groups: Groups, context: Context) -> list[Row]:
    """The month of travel."""
    found = quantities.month(groups["month"])
    if not found or (groups["month"].lower() in ("may", "march", "mar", "sept") and groups["month"].islower() and not re.search(r"(?i)\b(?:in|this|next|during)\s+(?:early\s|late\s|mid-?\s?)?(?:may|march)", context.clause.text)):
        return []
    return [{"item": found}]


@parser
def avoid_mode(groups: Groups, context: Context) -> list[Row]:
    """"I hate flying" → avoids_flying."""
    phrase = re.sub(r"(?i)^(?:(?:an?|the|in|long|long-haul|short)\s+)+", "", groups["obj"].strip())
    found = mapping("modes").get(phrase.lower()) or mapping("modes").get(singular(phrase.lower()))
    word = {"plane": "flying", "car": "driving"}.get(found or "", found)
    if word == "driving" and phrase.lower() in ("car", "cars"):
        word = "car"
    return [{"item": word}] if word else []


@parser
def availability(groups: Groups, context: Context) -> list[Row]:
    """When somebody is free, in their words."""
    phrase = re.split(r",|\u2039", groups["obj"])[0].strip(" .")
    phrase = re.sub(r"(?i)^on\s+", "", re.split(r"(?i)\s+(?:if|so|for\s+(?:a|the)|to|but|because|and\s+I|works?)\b", phrase)[0])
    ok = re.search(rf"(?i)\b(?:{quantities.WEEKDAY}s?|weekends?|weekdays?|mornings?|evenings?|afternoons?|nights?|\d{{1,2}}\s?(?:am|pm)?|noon|lunch\w*|work|school|days?|week|month)\b", phrase)
    return [{"item": phrase}] if ok and len(phrase.split()) <= 8 else []


@parser
def appointment(groups: Groups, context: Context) -> list[Row]:
    """An event with its date."""
    what = bare(groups["obj"])
    if re.match(r"(?i)(?:question|problem|quick|feeling|idea|few|lot)\b", what) or len(what.split()) > 4:
        return []
    said = groups["date"].strip()
    iso = quantities.date(said, context.now) or said
    if iso != said and re.search(r"(?i)\bmonth$", said):
        iso = iso[:7]
    time = (groups.get("time") or "").strip()
    return [{"fact_key": snake(what), "item": f"{iso} {time}".strip()}]


@parser
def regular(groups: Groups, context: Context) -> list[Row]:
    """A weekly fixture."""
    return [{"key": snake(bare(groups["obj"])), "item": groups["date"].strip()}]


@parser
def drink_habit(groups: Groups, context: Context) -> list[Row]:
    """What is drunk when; a drink without a time is a habit only with "every" or "always"."""
    time = groups.get("time") or (context.clause.text if re.search(r"(?i)\b(?:morning|day|breakfast|evening|afternoon|night|bed|dinner|lunch|wake)", context.clause.text) else "")
    return standing.drink({"obj": groups["obj"], "time": time}, context) if time else []


@parser
def playing(groups: Groups, context: Context) -> list[Row]:
    """Sports and instruments."""
    what = groups["obj"].lower()
    return [{"key": snake(what), "item": what}]


_AGENTS = {"runner": "running", "jogger": "jogging", "gamer": "gaming", "swimmer": "swimming", "skier": "skiing", "photographer": "photography", "cook": "cooking", "baker": "baking", "gardener": "gardening",
           "cyclist": "cycling", "angler": "fishing", "fisherman": "fishing", "birder": "birdwatching", "birdwatcher": "birdwatching", "chess player": "chess", "tennis player": "tennis", "triathlete": "triathlons",
           "marathoner": "marathons", "marathon runner": "marathons", "astronomer": "astronomy", "musician": "music", "poet": "poetry", "woodworker": "woodworking", "martial artist": "martial arts", "home brewer": "home brewing",
           "board gamer": "board games", "pianist": "piano", "guitarist": "guitar", "drummer": "drums", "mountain biker": "mountain biking", "beekeeper": "beekeeping", "yogi": "yoga", "crafter": "crafting",
           "quilter": "quilting", "knitter": "knitting", "biker": "biking", "collector": "collecting", "writer": "writing", "skater": "skating", "trail runner": "trail running", "boulderer": "bouldering", "dancer": "dancing", "diver": "diving", "rower": "rowing"}


@parser
def agent(groups: Groups, context: Context) -> list[Row]:
    """"a keen cyclist" → cycling."""
    word = re.sub(r"\s+", " ", groups["obj"].lower())
    activity = _AGENTS.get(word) or gerund(re.sub(r"(?:er|or)$", "", word))
    return [{"key": snake(activity), "item": activity}]


@parser
def collecting(groups: Groups, context: Context) -> list[Row]:
    """"I collect old maps" → collecting old maps."""
    return [{"item": f"collecting {row['item']}", "key": f"collecting_{row['key']}"} for row in values.items(groups, context)[:3]]


@parser
def doing(groups: Groups, context: Context) -> list[Row]:
    """A verb phrase as an activity: "paint landscapes" → painting landscapes."""
    rows = []
    for part in split_list(trim(groups["obj"])):
        first, _, rest = part.partition(" ")
        first = first.lower()
        if first in topics._IDLE_VERBS - {"do", "make"} or first in ("am", "are", "work", "relax", "sleep", "go", "need", "want", "have"):
            if first == "go" and rest.endswith("ing"):
                rows.append({"item": rest, "key": snake(rest)})
            continue
        phrase = rest if first in ("do", "play") and rest else f"{gerund(first)} {rest}".strip()
        if phrase and len(phrase.split()) <= 5:
            rows.append({"item": phrase, "key": snake(phrase)})
    return rows


@parser
def my_thing(groups: Groups, context: Context) -> list[Row]:
    """"my laptop is a ThinkPad"."""
    item = bare(trim(groups["obj"]))
    return [{"fact_key": snake(groups["what"]), "item": item}] if item and len(item.split()) <= 5 and not re.match(r"(?i)(?:bit|lot|mess|little|disaster|good|great|total|complete|nightmare|problem)\b", item) else []


@parser
def sure_goal(groups: Groups, context: Context) -> list[Row]:
    """Whatever is called a goal."""
    return standing.goal({**groups, "sure": "yes"}, context)


@parser
def training(groups: Groups, context: Context) -> list[Row]:
    """"training for a marathon", "saving for a house": the participle is part of the goal."""
    verb = re.search(r"(?i)\b(training|preparing|practi[sc]ing|studying|saving|working|prepping)\b", context.clause.text)
    phrase = trim(groups["obj"])
    if re.search(r"(?i)(?:^|\s)(?:a|an|the|my|our|this|that|these|it)$|^(?:this|that|these|it|\d)\b", phrase):
        return []
    if not phrase or not verb or re.match(r"(?i)(?:it|this|that|them|you|me|my\s+(?:boss|company)|an?\s+(?:meeting|company|call|while|bit|startup|firm|client|living)|[A-Z]\w+$|the\s+(?:company|government|same)|\d|hours|weeks|months|years|two|three)\b", phrase) and verb.group(1).lower() == "working":
        return []
    full = phrase if phrase.lower().startswith("saving") else f"{verb.group(1).lower()} {'to buy' if ' to buy ' in context.clause.text else 'for'} {phrase}"
    return [{"item": full, "key": snake(re.sub(r"(?i)\b(?:a|an|the|my|our|up)\b\s*", "", full), 4)}] if len(full.split()) <= 10 else []


@parser
def is_favorite(groups: Groups, context: Context) -> list[Row]:
    """"Alien is my favourite film"."""
    item = topics.taste_object(re.sub(r"(?i)^(?:and|but)\s+", "", groups["obj"]))
    if not item or re.match(r"(?i)(?:what|which|that|here)\b", item):
        return []
    what = (groups.get("what") or "").strip()
    what = re.sub(r"(?i)^(?:of|ever|in|to|because|these|so|now)\b.*$", "", what)
    if re.match(r"(?i)(?:thing|one|part|way|place|activity)s?\b", what):
        what = ""
    return [{"item": item, "key": snake(f"favorite {singular(what)}") if what else snake(item)}]


@parser
def style_rule(groups: Groups, context: Context) -> list[Row]:
    """A style request; a one-off about something at hand ("don't give the first option") is none."""
    phrase = groups["obj"]
    if re.match(r"(?i)(?:do\s+not|stop|no\s+more|quit)\b", phrase):
        lasting = re.search(r"(?i)\b(?:emojis?|jargon|bullet|markdown|exclamation|apologi[sz]\w*|my\s+(?:age|weight|name|ex|height)|me\s+(?:sir|ma'am|madam|mr|mrs|miss|dude|buddy|man|bro|unsolicited|long|lectures?|advice|disclaimers?)|disclaimers?|sugar-?coat\w*|swear\w*|repeat\w*|unsolicited|small\s+talk|caps|abbreviations|"
                            r"from\s+now|again|anymore|ever|questions|answers?|repl\w+|responses?|jokes|spoilers?|sarcas\w*|filler|slang|tables|headings|alcohol|meat|pork|restaurants?\s+with|hostels|flights|red-?eyes?|english|compliment\w*|with\s+(?:a\s+)?(?:question|great|sure)|seafood|gluten|dairy|nuts)\b", phrase)
        if not lasting:
            return []
    return standing.instruction({"obj": phrase}, context)


@parser
def forget(groups: Groups, context: Context) -> list[Row]:
    """"forget my budget": which fact that is, `known` decides; without it the usual key."""
    what = re.sub(r"(?i)^travel\s+", "", groups["what"].lower())
    target = {"budget": ("budget", "max_amount"), "name": ("identity", "name"), "age": ("identity", "age"), "birthday": ("identity", "birthday"), "diet": ("dietary", "diet"), "address": ("location", "home_city"),
              "destination": ("destination", "cities"), "job": ("work", "job_title"), "employer": ("work", "employer"), "hometown": ("location", "hometown"), "date": ("schedule", "travel_date"), "dates": ("schedule", "travel_date"),
              "goal": ("goal", "goal"), "hobby": ("hobby", "hobby"), "hobbies": ("hobby", "hobby"), "location": ("location", "home_city"), "phone number": ("identity", "phone"), "email": ("identity", "email"), "salary": ("work", "salary"), "trip length": ("goal", "trip_length_days")}[what]
    return [{"category": target[0], "fact_key": target[1], "item": ""}]


@parser
def gone_thing(groups: Groups, context: Context) -> list[Row]:
    """A vehicle or belonging that is gone."""
    phrase = bare(trim(groups["obj"]))
    return topics.vehicle({"obj": phrase}, context) or topics.belonging({"obj": phrase}, context)


@parser
def gone_job(groups: Groups, context: Context) -> list[Row]:
    """A job that is over: the employer if named, else whatever is known."""
    what = (groups.get("obj") or "").strip()
    if not what:
        return [{"fact_key": "employer", "item": ""}]
    if what[:1].isupper() and places.kind(what) and "job" not in context.clause.text:
        return []
    if what[:1].isupper() or " at " in context.clause.text:
        return topics.employer({"obj": what if what[:1].isupper() else f"the {what}"}, context)
    return [{"fact_key": "job_title", "item": trim(what)}]


LANGUAGE_WORD = rf"\b{alternatives('languages')}\b"
assert words("modes")  # the lexicon is read once, here, so that a broken file fails at import of the parsers
