"""Value parsers that need a category's own vocabulary: money, tastes, work, food, health, languages, travel, time, rules."""

from __future__ import annotations

import regex as re

from recall_sql.models.rules import places, quantities
from recall_sql.models.rules.lexicon import alternatives, mapping, words
from recall_sql.models.rules.phrases import bare, gerund, singular, snake, split_list, trim
from recall_sql.models.rules.values import Context, Groups, Row, _nounlike, parser, proper_name

# --- money -----------------------------------------------------------------------------------------------------------

_PER = re.compile(r"(?i)\b(?:per|a|an|each|/)\s*(day|night|month|week|person|head|year)\b|\b(daily|nightly|monthly|weekly)\b|/\s?(day|night|month|week|person)")
_PERIOD = {"day": "daily", "night": "nightly", "month": "monthly", "week": "weekly", "person": "per_person", "head": "per_person", "year": "yearly"}
_RANGE = re.compile(rf"(?i)(?:between\s+)?({quantities.MONEY})\s*(?:-|–|to|and)\s*({quantities.MONEY})")


@parser
def budget(groups: Groups, context: Context) -> list[Row]:
    """A ceiling on spending, its currency and period in the key: max_usd, nightly_max_eur."""
    phrase = groups["obj"]
    pair = _RANGE.search(phrase)
    found = re.search(rf"(?i){quantities.MONEY}", phrase)
    if not found:
        return []
    text = pair.group(2) if pair else found.group()
    parsed = quantities.money(text)
    if not parsed or float(parsed[0]) < 5:
        return []
    amount, code = parsed
    code = code or quantities.currency(phrase)
    if pair and (low := quantities.money(pair.group(1))) and re.search(r"(?i)\b(?:k|grand|thousand)\b|\dk\b", text) and float(low[0]) > float(amount):
        amount = low[0]
    if not code and not groups.get("sure") and not re.search(r"(?i)\dk\b|grand|thousand|\d{3}", text):
        return []
    per = _PER.search(phrase) or re.search(r"(?i)(?<none>\Z\A)?\b(daily|nightly|monthly|weekly)\s(?:\w+\s)?(?:budget|limit|max)", context.clause.text)
    prefix = {"daily": "daily", "nightly": "nightly", "monthly": "monthly", "weekly": "weekly"}.get((per.group(2) or "").lower()) if per else None
    if per and not prefix:
        prefix = _PERIOD[(per.group(1) or per.group(3)).lower()]
    key = f"{prefix}_max_{code or 'amount'}" if prefix else f"max_{code or 'amount'}"
    return [{"fact_key": key, "item": amount}]


@parser
def income(groups: Groups, context: Context) -> list[Row]:
    """A salary as said."""
    parsed = quantities.money(groups["obj"])
    if not parsed or float(parsed[0]) < 100:
        return []
    code = parsed[1] or quantities.currency(groups["obj"])
    return [{"fact_key": f"salary_{code}" if code else "salary", "item": parsed[0]}]


# --- tastes ----------------------------------------------------------------------------------------------------------

_DEICTIC = re.compile(
    r"(?i)^(?:it|that|this|them|these|those|you|your|yours|him|her|his|their|he|she|they|me|us|my|our|how|what|when|where|why|who|whatever|everything|something|anything|"
    r"nothing|all|both|none|each|no|not|here|there|seeing\s+(?:how|you|your|the)|hearing|knowing|being\s+(?:here|able|with|part|around)|talking\s+(?:to|with)\s+(?:you|him|her)|chatting|working\s+with\s+you|"
    r"such|so|like|if|doing\s+(?:this|that|it)|having\s+(?:you|this)|getting\s+(?:to|your)|another|other|one|for|going\s+to\s+bed|asking|bothering|saying|more|less|to)\b"
)
_CHAT_NOUN = re.compile(
    r"(?i)\b(?:ideas?|suggestions?|options?|ones?|plans?|sounds?|looks?|ways?|thoughts?|facts?|features?|answers?|questions?|vibes?|energy|enthusiasm|concepts?|approach|responses?|"
    r"jokes?|attitude|spirit|perspective|advice|details?|specifics|tips?|results?|version|draft|outline|list|design|choices?|point|explanation|recommendations?|feedback|help|job\s+you|title|feeling)$"
)
_TASTE_NAMES = re.compile(r"(?i)^the\s+(.+)$")


def taste_object(phrase: str) -> str | None:
    """The thing liked or disliked, or None when it points into the conversation ("it", "that idea", "the sound of it")."""
    phrase = re.sub(r"(?i)^(?:the\s+(?:taste|smell|texture|flavou?r|feeling|thought|idea|sound|concept|feel)\s+of|a\s+good|all\s+things|anything\s+(?:with|related\s+to|to\s+do\s+with)|everything\s+about|watching\s+the|a\s+nice|a)\s+", "", phrase.strip())
    if _DEICTIC.match(phrase) or _CHAT_NOUN.search(trim(phrase)):
        return None
    named = _TASTE_NAMES.match(phrase)
    if named:
        inner = trim(named.group(1))
        if inner.lower() not in words("the_tastes") and not inner[:1].isupper():
            return None
        return "the " + inner if inner.lower() in words("the_tastes") else inner
    found = bare(trim(phrase))
    if _POINTING.search(found) or _HANGING.search(found) or found.lower() in _ADJECTIVES:
        return None
    return found if _nounlike(found) and not _DEICTIC.match(found) and not _CHAT_NOUN.search(found) else None


_POINTING = re.compile(r"(?i)\b(?:this|these|those|them|him|her|it|that|you|your|i|we|he|she|they|is|are|was|can|'s|s)\b")
_HANGING = re.compile(r"(?i)\b(?:to|of|in|on|with|for|about|from|at|a|an|the|my|and)$")
_ADJECTIVES = frozenset("a,an,big,huge,both,real,total,great,such,true,magical,the".split(","))
_VERB_OBJECT = re.compile(r"(?i)^to\s+(?:be\s+)?(\p{L}+)(\s.*)?$")
_IDLE_VERBS = frozenset("say,admit,bother,ask,break,be,interrupt,see,think,complain,disappoint,know,hear,tell,imagine,believe,keep,make,have,use,get,add,do,start,help,avoid,take,mention,try,point,order,change,schedule,set,find,include,create,understand,share,buy,book,give,consider,leave".split(","))


@parser
def tastes(groups: Groups, context: Context) -> list[Row]:
    """Things liked or disliked, one row each."""
    phrase = groups["obj"]
    verb = _VERB_OBJECT.match(phrase)
    if verb:
        if verb.group(1).lower() in _IDLE_VERBS:
            return []
        done = f"{gerund(verb.group(1))}{trim(verb.group(2) or '') and ' ' + trim(verb.group(2))}"
        return [{"item": done, "key": snake(done), **({"suffix": ""})}] if len(done.split()) <= 7 else []
    phrase = re.split(r"(?i)\s+(?:over|more\s+than|rather\s+than|instead\s+of|better\s+than)\s+", phrase)[0]
    phrase = re.sub(r"(?i)^(?:eating|drinking|having|listening\s+to|watching|playing\s+with)\s+(?=\w)", "", phrase) if groups.get("strip") else phrase
    rows, parts = [], split_list(trim(phrase))
    for part in parts:
        found = taste_object(part)
        if not found:
            break
        rows.append({"item": found, "key": snake(re.sub(r"(?i)^the\s+", "", found))})
    return rows


@parser
def hobby(groups: Groups, context: Context) -> list[Row]:
    """Activities from the lexicon only."""
    rows = []
    for part in split_list(trim(groups["obj"])):
        part = re.sub(r"(?i)^(?:going|doing|practi[sc]ing)\s+", "", bare(part))
        activity = re.sub(r"(?i)^to\s+", "", part)
        activity = activity if activity.lower() in words("activities") else gerund(activity.split()[0]) + activity[len(activity.split()[0]):] if activity else ""
        opening = activity.split(" ")[0].lower()
        if opening in words("activities") and activity.lower() not in words("activities") and 1 < len(activity.split()) <= 4 and not re.search(r"(?i)\b(?:this|that|another|her|his|their|my|some|as|it|more|again|been)\b", activity + context.clause.text[:14]):
            rows.append({"item": activity, "key": snake(activity)})
            continue
        if activity.lower() in words("activities") or part.lower() in words("sports") | words("activities"):
            rows.append({"item": activity.lower() if activity.lower() in words("activities") else part, "key": snake(activity if activity.lower() in words("activities") else part)})
    return rows


@parser
def pastime(groups: Groups, context: Context) -> list[Row]:
    """Whatever is named as a hobby ("my hobbies are …", "in my free time I …")."""
    rows = []
    for part in split_list(trim(groups["obj"])):
        part = re.sub(r"(?i)^(?:to|going|doing|mostly|I)\s+", "", part)
        first, _, rest = bare(part).partition(" ")
        if not first or _DEICTIC.match(part) or first.lower() in _IDLE_VERBS or first.lower() in ("work", "relax", "am", "sleep", "watch", "go", "like", "love"):
            continue
        phrase = f"{gerund(first)} {rest}".strip() if groups.get("verb") else bare(part)
        if _nounlike(phrase):
            rows.append({"item": phrase, "key": snake(phrase)})
    return rows


@parser
def favorite(groups: Groups, context: Context) -> list[Row]:
    """"my favourite film is Alien"."""
    if re.match(r"(?i)(?:one|thing|part|way|moment|memory|bit|of|out)\b", groups["what"]):
        return []
    value = re.sub(r"(?i)^(?:definitely|probably|always|called|by\s+far|the)\s+", "", trim(groups["obj"]))
    if not value or _DEICTIC.match(value) or len(value.split()) > 8:
        return []
    return [{"item": value, "key": snake("favorite " + groups["what"].strip())}]


# --- work ------------------------------------------------------------------------------------------------------------

_JOB_SUFFIX = re.compile(r"(?i)(?:ologist|grapher|smith|maker|keeper|ographer|ician|scientist|engineer|developer|manager|officer|specialist|technician|consultant|analyst|assistant|inspector|operator|planner|instructor|advis[eo]r|worker|director|coordinator|supervisor|therapist|nurse|teacher|surgeon|ier|ist|trainer|master|attendant|agent|clerk|designer|architect|programmer|writer|wright)$")
_JOB_TAIL = re.compile(r"(?i)\s+(?:at|for|in|with|from|by|on|who|and\s+(?:a|I|my|we|have|live)|living|working|based|here|but|of\s+(?=\d|two|three)|currently|speciali[sz]\w*|focus\w*|to\s|because|since|turned|whose|that|where|as|now|these)\b.*$")
_JOB_QUALIFIER = re.compile(r"(?i)^(?:(?:an?|the|one\s+of|full[\s-]time|part[\s-]time|self-employed|trained|qualified|registered|certified|licensed|practi[sc]ing|professional|fellow|humble|proud|busy|newly\s+qualified|simple|hands-on|passionate|dedicated|successful|aspiring|budding|seasoned|experienced|self-taught|mere|bit\s+of\s+a|local|young|new|single|\d+[\s-]year[\s-]old|British|American|German|French|Italian|Spanish|Indian|Dutch|Canadian)\s+)+")
_STUDENT = re.compile(r"(?i)^(?P<level>.*?)\s*\bstudent\b(?:\s+(?:of|in|studying)\s+(?P<field>[\w ]+))?")


def job_title(phrase: str) -> str | None:
    """The occupation a phrase names ("senior data engineer at X" → "senior data engineer"), or None."""
    phrase = re.split(r",|\(|\u2039", phrase)[0]
    phrase = _JOB_TAIL.sub("", " " + phrase).strip(" .!?'\"-")
    if re.search(r"(?i)\b(?:aspiring|wannabe|amateur|hobby|bad|terrible|great|good|decent|lousy|big|huge|avid|keen|retired|former|ex|natural|fast|slow|light|heavy|early|late)\b", phrase):
        return None
    title = _JOB_QUALIFIER.sub("", phrase).strip()
    low = title.lower()
    parts = low.split()
    if not parts or len(parts) > 5:
        return None
    last = parts[-1]
    two = " ".join(parts[-2:])
    if low in words("not_jobs") or two in words("not_jobs") or (last in words("not_jobs") and two not in words("jobs")):
        return None
    if re.search(r"(?i)\b(?:sister|brother|mother|father|friend|wife|husband|person|type|kind|level|of)\b", low):
        return None
    if last in words("jobs") or two in words("jobs") or (len(last) > 5 and _JOB_SUFFIX.search(last)):
        return title
    return None


@parser
def job(groups: Groups, context: Context) -> list[Row]:
    """An occupation that the lexicon or its ending recognises, and the employer if named."""
    rows = []
    for part in re.split(r"(?i)\s+and\s+(?=an?\s)|\s*/\s*", groups["obj"]):
        title = job_title(part)
        if title:
            rows.append({"fact_key": "job_title", "item": title})
            break
    if not rows:
        return []
    at = re.search(r"\b(?:at|for|with(?=\s(?:the\s)?[A-Z]))\s+(?!home\b)(.+)$", groups["obj"])
    if at:
        rows += employer({"obj": at.group(1)}, context)
    return rows


@parser
def said_job(groups: Groups, context: Context) -> list[Row]:
    """Whatever is called one's job ("I work as …", "my job is …")."""
    phrase = _JOB_QUALIFIER.sub("", _JOB_TAIL.sub("", re.split(r",|\(", groups["obj"])[0]).strip()).strip(" .")
    phrase = trim(phrase)
    rows = []
    if phrase and len(phrase.split()) <= 6 and not re.match(r"(?i)(?:to|very|so|not|really|too|hard|great|boring|stressful|quite|pretty|killing|going|on|in|at|demanding|my|hell|awful|fine|a\s+(?:nightmare|joke|lot|mess))\b", phrase) and not phrase.lower().endswith("ing"):
        rows.append({"fact_key": "job_title", "item": phrase})
    at = re.search(r"\b(?:at|for|with(?=\s(?:the\s)?[A-Z]))\s+(?!home\b)(.+)$", groups["obj"])
    return rows + (employer({"obj": at.group(1)}, context) if at and rows else [])


_NO_EMPLOYER = re.compile(r"(?i)^(?:home|night|nights|the\s+(?:moment|weekend|same|best|time|office|last|past|other)|least|all|now|me|you|it|him|her|them|this|that|myself|ourselves|free|fun|money|hours|years|over|about|almost|\d|a\s+(?:while|living|long|year|month|few|better|raise|promotion)|two|three|four|five|six|seven|eight|nine|ten|many|everyone|everybody|the\s+(?:next|first)|once|work|ages|my\s+own|good)\b")


@parser
def employer(groups: Groups, context: Context) -> list[Row]:
    """A company or kind of workplace."""
    phrase = re.split(r",|\(|\u2039", groups["obj"])[0]
    if _NO_EMPLOYER.match(phrase):
        return []
    cap = re.match(r"^(?:the\s+)?((?:[\p{Lu}\d][\p{L}\d&.'’+-]*)(?:\s(?:(?:of|the|and|&|for|de)\s)?[\p{Lu}\d][\p{L}\d&.'’+-]*){0,4})", phrase)
    if cap:
        return [{"fact_key": "employer", "item": re.sub(r"(?i)\s+(?:in|and)$", "", cap.group(1)).strip(" .")}]
    kind = re.match(r"(?i)^(?:an?|the|our|my)\s+(.+)$", trim(phrase))
    if kind:
        what = re.sub(r"(?i)\s+(?:in|near|as|doing|and|called|named|from|based|here|right|that|who|downtown|nearby|abroad|remotely)\b.*$", "", kind.group(1))
        named = re.search(r"(?i)\b(?:called|named)\s+([A-Z][\w&.-]*(?:\s[A-Z][\w&.-]*)*)", phrase)
        if named:
            return [{"fact_key": "employer", "item": named.group(1)}]
        if re.search(r"(?i)\b(?:team|project|goal|living|solution|deadline|degree|increase|salary|raise|book|app|presentation|exam|test|problem|way|paper|thesis|report|plan|design|day|week|year|month|future|change|cause|hobby|client|reason|change|computer|desk|feature|website|triangle|mindset|same|people|family|public|movie|song|game)$", what):
            return []
        return [{"fact_key": "employer", "item": what}] if 0 < len(what.split()) <= 5 else []
    return []


@parser
def field_of_work(groups: Groups, context: Context) -> list[Row]:
    """"I work in finance"."""
    phrase = bare(trim(re.split(r",|\(", groups["obj"])[0]))
    phrase = re.sub(r"(?i)\s+(?:at|for|in)\s+.*$", "", phrase)
    if not phrase or places.kind(phrase) or not _nounlike(phrase) or len(phrase.split()) > 4 or re.match(r"(?i)(?:the\s+)?(?:office|morning|evening|afternoon|night|shifts?|progress|team|teams|groups|person|tech\s+stack|excel|python|my)\b", phrase):
        return []
    if phrase[:1].isupper() and phrase.upper() != phrase and not re.match(r"(?i)(?:marketing|finance|tech|sales|education|healthcare|insurance)", phrase):
        return [{"fact_key": "work_location", "item": phrase}] if places.kind(phrase) == "city" else []
    return [{"fact_key": "industry", "item": phrase}]


# --- food and health -------------------------------------------------------------------------------------------------

_DIET = re.compile(rf"(?i)^(?:(?:a|an|the|trying|doing|following|eating|going|being|strict|strictly|fully|completely|lifelong|life-long|long-time|committed|proud|100%|on|following|ethical|total|pretty\s+strict|new|longtime|hardcore|devout|practising|practicing|part-time|almost|super|mainly|entirely|happy|very|bit)\s+)*(?P<diet>{alternatives('diets')})s?(?:\s+(?:diet|food|person|eater|lifestyle|meals|now|household|family|couple))?(?=$|[\s,.])(?!\s*-?\s*(?:restaurants?|recipes?|options?|friend|chef|shoes|leather|friendly|curious|cook|community|stuff))")


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


_FOODS = "meat|red meat|pork|beef|lamb|veal|poultry|chicken|fish|seafood|shellfish|shrimp|prawns|dairy|cheese|milk|eggs?|gluten|wheat|bread|sugar|added sugar|carbs|nuts|peanuts|soy|tofu|garlic|onions?|mushrooms?|spicy food|fried food|fast food|junk food|processed food|animal products|gelatin|honey|salt|caffeine|alcohol|grains|corn|tomatoes|raw fish|sushi|bananas?|chocolate|sweets|cilantro|coriander|olives|beans|lentils|potatoes|rice|pasta|tuna|salmon|duck|bacon|ham|offal|liver|eggplant|aubergine|peppers|bell peppers|celery|avocados?|coconut|lactose|butter|cream|yogurt|anything with .+|anything fried|anything spicy|anything containing .+|raw onions|blue cheese|citrus|strawberries|kiwi|nightshades|refined sugar|white bread|mayonnaise|mayo|desserts?|sodas?|animals"
FOOD = rf"(?:{'|'.join(_FOODS.split('|'))})"


@parser
def no_foods(groups: Groups, context: Context) -> list[Row]:
    """Foods not eaten: one key each, dietary/no_pork."""
    rows = []
    for part in split_list(trim(groups["obj"])):
        part = re.sub(r"(?i)^(?:any\s+kind\s+of|any|much|anything\s+(?:with|containing|made\s+with)|too\s+much|a\s+lot\s+of|eat|eating|or)\s+", "", part)
        part = re.sub(r"(?i)\s+(?:or\s+anything|products?|at\s+all|whatsoever)$", "", part)
        if re.fullmatch(rf"(?i){FOOD}", part):
            key = "animal_products" if part.lower() == "animals" else snake(part)
            rows.append({"fact_key": f"no_{singular(key) if key not in ('nuts',) and not key.endswith('ss') else key}", "item": "true"})
    return rows


@parser
def allergies(groups: Groups, context: Context) -> list[Row]:
    """Allergens, one row each, the key in the singular."""
    phrase = re.sub(r"(?i)\s+(?:of|from)\s+(?:all\s+kinds)$", "", trim(groups["obj"]))
    rows = []
    for part in split_list(phrase):
        part = re.sub(r"(?i)^(?:both|all\s+(?:kinds|types|sorts)\s+of|most|some|certain|any\s+kind\s+of|any|allergic\s+to|to)\s+", "", bare(part))
        if not _nounlike(part) or len(part.split()) > 4 or re.match(r"(?i)(?:work|working|mornings?|mondays?|bullshit|stupid\w*|drama|nonsense|exercise|people|meetings|cooking|effort|small\s+talk|bad\s+\w+|early\s+\w+|idiots|commitment|homework|fun|housework)\b", part):
            continue
        rows.append({"item": part, "key": snake(singular(part.lower()))})
    return rows


_CONDITION = re.compile(rf"(?i)^(?:(?:a|an|the|some|bad|terrible|severe|severely|mild|mildly|chronic|really|very|quite|slightly|occasional|frequent|awful|horrible|constant|regular|bit|little|pretty|a\s+bit|type\s+of|case\s+of|history\s+of|form\s+of|partially|completely|totally|extremely|clinically|six|seven|eight|five|four|three|two|\w+\s+(?:weeks?|months?))\s+)*(?P<c>{alternatives('conditions')})(?![\w-])(?!\s*(?:to\s+(?:see|hear|know|the|all)|about|of\s+(?:my|this|it|you|the)|date|spot|is\s|drunk|attack\s+(?:when|if)|pills?|medication|guide))")


@parser
def conditions(groups: Groups, context: Context) -> list[Row]:
    """Medical conditions of the lexicon, as key with value 'true'."""
    rows = []
    for part in re.split(r"(?i)\s*,\s*(?:and\s+)?|\s+and\s+(?:I\s+(?:have|get)\s+)?|\s+as\s+well\s+as\s+|\s+or\s+", groups["obj"]):
        part = re.sub(r"(?i)^(?:with|from|also|am|been|being|diagnosed\s+with)\s+", "", part.strip())
        found = _CONDITION.match(part)
        if not found:
            continue
        name = re.sub(r"\s+", " ", found.group("c").lower())
        key = mapping("conditions").get(name) or mapping("conditions").get(name.replace(" ", "-")) or mapping("conditions").get(name.replace("-", " "))
        if key:
            rows.append({"fact_key": key, "item": "true"})
    return rows


# --- languages, origin -----------------------------------------------------------------------------------------------


@parser
def languages(groups: Groups, context: Context) -> list[Row]:
    """Languages by name; `prefix` of the pattern makes the key."""
    rows = []
    groups = {**groups, "obj": re.sub(r"(?i)^(?:\w+\s+)?languages\s*(?::|,|-)\s*", "", groups["obj"])}
    for part in split_list(re.sub(r"(?i)\s+(?:fluently|natively|at\s+home|well|badly|conversationally|at\s+(?:a|an)\s.*|with\s+my.*|poorly|perfectly)(?=\s|,|$)", "", groups["obj"])):
        part = re.sub(r"(?i)^(?:a\s+(?:bit|little)\s+(?:of\s+)?|some\s+|fluent\s+|basic\s+|native\s+|conversational\s+|passable\s+|broken\s+|decent\s+|good\s+|perfect\s+|both\s+|only\s+|very\s+little\s+|bad\s+|enough\s+|mostly\s+|a\s+few\s+words\s+of\s+|intermediate\s+|advanced\s+|beginner\s+|how\s+to\s+speak\s+|to\s+speak\s+)+", "", part)
        found = re.match(rf"(?i)({alternatives('languages')})(?![\w-])", part)
        if found and not re.match(r"(?i)\s*(?:cooking|cuisine|food|history|literature|to\s+you)", part[found.end():]):
            low = found.group(1).lower()
            rows.append({"item": low.upper() if low in ("asl", "bsl") else " ".join(w.capitalize() for w in low.split()), "key": snake(low)})
    return rows


@parser
def nationality(groups: Groups, context: Context) -> list[Row]:
    """"I'm half Greek", "I'm Italian"."""
    found = re.match(rf"(?i)^(?:(?:an?|half|part|originally|born|proudly|ethnically|of|originally)\s+)*({alternatives('nationalities')})(?:[\s-]({alternatives('nationalities')}))?(?:(?:,|\s+and)+\s+(?:half|part)\s+{alternatives('nationalities')})*(?:\s+(?:citizen|national|guy|girl|woman|man|by\s+birth|origin|descent|expat|living|but|and\s+(?:live|I|my)|here|heritage|student|immigrant)\b.*)?$", groups["obj"].strip())
    if not found:
        return []
    if re.match(r"(?i)(?:half|part)\b", groups["obj"]):
        return [{"item": groups["obj"].strip()}]
    names = [" ".join(w.capitalize() for w in g.split()) for g in found.groups() if g]
    return [{"item": "-".join(names)}]


@parser
def religion(groups: Groups, context: Context) -> list[Row]:
    """A faith by name."""
    found = re.match(rf"(?i)^(?:(?:an?|practi[sc]ing|devout|non-practi[sc]ing|lapsed|religious|raised)\s+)*({alternatives('religions')})(?=$|,|\s+(?:and|so|but|by)\b)", groups["obj"].strip())
    return [{"item": found.group(1).capitalize() if found.group(1).lower() not in ("atheist", "agnostic") else found.group(1).lower()}] if found else []


# --- travel ----------------------------------------------------------------------------------------------------------


def _mode(phrase: str) -> str | None:
    phrase = re.sub(r"(?i)^(?:(?:the|a|an|my|our|taking|riding|travel(?:l?ing)?|going|by|to\s+go|to\s+take|take|traveling|travelling|using|on|with|long-distance|overnight|night|high-speed|longer|to|go|get\s+around|local|sleeper|regional|use|getting|around|commuting|moving)\s+)+", "", phrase.strip())
    for size in (2, 1):
        key = " ".join(phrase.lower().strip(" .,!").split()[:size])
        if key in mapping("modes"):
            rest = phrase.lower().split()[size:]
            if rest and rest[0] in ("racing", "food", "rental", "stations", "station", "games", "sets", "shows", "models", "enthusiast", "insurance", "lessons", "class"):
                return None
            return mapping("modes")[key]
    return None


@parser
def mode(groups: Groups, context: Context) -> list[Row]:
    """A means of transport."""
    found = _mode(groups["obj"])
    return [{"item": found}] if found else []


@parser
def mode_over(groups: Groups, context: Context) -> list[Row]:
    """"trains over flights": both sides must be means of transport."""
    better, worse = _mode(groups["obj"]), _mode(groups["than"])
    return [{"item": better}] if better and worse and better != worse else []


@parser
def preferred(groups: Groups, context: Context) -> list[Row]:
    """"I prefer X (to Y)": the taste for X."""
    phrase = re.split(r"(?i)\s+(?:to|over|than|rather\s+than|instead\s+of|more\s+than)\s+(?!\w+ing$)|\s+(?:over|rather\s+than|instead\s+of|to)\s+", groups["obj"])[0]
    return tastes({"obj": phrase}, context)


# --- time ------------------------------------------------------------------------------------------------------------


@parser
def when(groups: Groups, context: Context) -> list[Row]:
    """A date, resolved against when it was said; relative dates stay as said without that."""
    iso = quantities.date(groups["date"], context.now)
    value = iso or groups["date"].strip()
    if not value:
        return []
    time = groups.get("time")
    return [{"item": f"{value} {time.strip()}" if time else value, **({"key": snake(bare(groups["obj"]))} if groups.get("obj") else {})}]


@parser
def birthday(groups: Groups, context: Context) -> list[Row]:
    """ISO date or MM-DD."""
    iso = quantities.birthday(groups["date"])
    return [{"item": iso}] if iso else []


@parser
def birth_year(groups: Groups, context: Context) -> list[Row]:
    """A year between 1900 and 2030."""
    return [{"item": groups["year"]}] if 1900 <= int(groups["year"]) <= 2030 else []


@parser
def as_said(groups: Groups, context: Context) -> list[Row]:
    """The group `obj`, as written, shortened at a comma."""
    value = re.split(r",|;|\u2039", groups["obj"])[0].strip(" .!?")
    return [{"item": value, "key": snake(value, 6)}] if value and len(value.split()) <= 12 else []


@parser
def vehicle(groups: Groups, context: Context) -> list[Row]:
    """"a red Volvo", "a 2015 Toyota Corolla", "an old motorcycle"."""
    phrase = bare(trim(re.split(r",|\(", groups["obj"])[0]))
    phrase = re.sub(r"(?i)\s+(?:to\s+work|to|named|called|from|around|and).*$", "", phrase)
    low = phrase.lower()
    moto = re.search(rf"(?i)\b{alternatives('moto_makes')}\b", low)
    make = moto or re.search(rf"(?i)\b{alternatives('car_makes')}\b", low)
    kind = re.search(rf"(?i)\b{alternatives('vehicles')}s?\b", low)
    if not phrase or len(phrase.split()) > 6 or not (make or kind):
        return []
    key = snake(singular(kind.group().lower())) if kind else "motorcycle" if moto else "car"
    return [{"fact_key": key, "item": phrase}]


@parser
def belonging(groups: Groups, context: Context) -> list[Row]:
    """A thing of the lexicon that is owned."""
    rows = []
    for part in split_list(trim(groups["obj"])):
        if re.match(r"(?i)(?:one|no)\b", part) or re.search(r"(?i)\b(?:question|problem|issue)\b", part):
            break
        phrase = re.sub(r"(?i)\s(?:by|near|in|at|on|with|from|for|called|named)\s.*$", "", bare(part))
        kind = re.search(rf"(?i)\b({alternatives('belongings')})(?:\s(?:\d\w*|pro|max|mini|air|plus|se|ultra|oled))*$", phrase)
        if kind and len(phrase.split()) <= 5:
            rows.append({"fact_key": snake(kind.group(1).lower()), "item": phrase})
        elif re.search(rf"(?i)\b(?:{alternatives('vehicles')}|{alternatives('car_makes')})$", phrase):
            rows += vehicle({"obj": phrase}, context)
    return rows


@parser
def study_place(groups: Groups, context: Context) -> list[Row]:
    """A school or university by its capitalised name."""
    found = re.match(r"^(?:the\s+)?([\p{Lu}][\p{L}.&'’-]*(?:\s(?:(?:of|the|and|in|for|de|at)\s){0,2}[\p{Lu}][\p{L}.&'’-]*){0,5})", groups["obj"])
    return [{"item": re.sub(r"\s+in\s+\w+$", "", found.group(1))}] if found and not proper_month(found.group(1)) else []


def proper_month(text: str) -> bool:
    """`text` is a month or weekday name."""
    return re.fullmatch(rf"(?i){quantities.MONTH}|{quantities.WEEKDAY}", text) is not None


@parser
def field(groups: Groups, context: Context) -> list[Row]:
    """A subject of study, and the university when it follows."""
    phrase = re.split(r",|\(", groups["obj"])[0]
    parts = re.split(r"(?i)\s+(?:at|from)\s+(?=(?:the\s+)?(?-i:[A-Z]))", phrase, maxsplit=1)
    subject = re.sub(r"(?i)\s+(?:at|in|from|for|with|abroad|part-time|full-time|hard|online|right|so|to)\b.*$", "", bare(trim(parts[0])))
    if not subject or len(subject.split()) > 5 or re.match(r"(?i)(?:hard|abroad|for|at|in|it|this|that|my|the\s+(?:effect|impact)|a\s+lot|late|all|together|up|how|what|your|harder|online|more|every|with|alone|better|best)\b", subject):
        return []
    rows = [{"fact_key": "field", "item": subject}]
    if len(parts) > 1:
        rows += [{"fact_key": "university", **row} for row in study_place({"obj": parts[1]}, context)]
    return rows


@parser
def student(groups: Groups, context: Context) -> list[Row]:
    """"a second-year medical student at Leeds"."""
    rows: list[Row] = []
    level = re.search(r"(?i)\b(phd|doctoral|master'?s|graduate|grad|undergraduate|college|university|uni|high[\s-]school|exchange|postgraduate|first-year|second-year|third-year|final-year|mba)\b", groups["level"])
    subject = re.sub(r"(?i)\b(?:phd|doctoral|master'?s|graduate|grad|undergraduate|undergrad|college|university|uni|high[\s-]school|exchange|postgraduate|\w+-year|full-time|part-time|mature|mba|international|foreign|broke|poor|an?|the|good|current|\d\w*\s+year|(?:first|second|third|fourth|final)\s+year)\b\s*", "", groups["level"]).strip()
    rows.append({"fact_key": "student", "item": f"{level.group(1)} student" if level else "true"})
    subject = (groups.get("field") or subject).strip()
    if subject and len(subject.split()) <= 4:
        rows.append({"fact_key": "field", "item": trim(subject)})
    if groups.get("at"):
        rows += [{"fact_key": "university", **row} for row in study_place({"obj": groups["at"]}, context)]
    return rows
