"""Value parsers for occupations, employers and studies."""

from __future__ import annotations

import regex as re

from recall_sql.models.rules import places, quantities
from recall_sql.models.rules.journeys import place_parts
from recall_sql.models.rules.lexicon import words
from recall_sql.models.rules.phrases import bare, trim
from recall_sql.models.rules.values import Context, Groups, Row, _nounlike, parser

_JOB_SUFFIX = re.compile(
    r"(?i)(?:ologist|grapher|smith|maker|keeper|ographer|ician|scientist|engineer|developer|manager|"
    r"officer|specialist|technician|consultant|analyst|assistant|inspector|operator|planner|"
    r"instructor|advis[eo]r|worker|director|coordinator|supervisor|therapist|nurse|teacher|surgeon|"
    r"ier|ist|trainer|master|attendant|agent|clerk|designer|architect|programmer|writer|wright)$"
)


_JOB_TAIL = re.compile(
    r"(?i)\s+(?:at|for|in|with|from|by|on|who|and\s+(?:a|I|my|we|have|live)|living|working|based|here|"
    r"but|of\s+(?=\d|two|three)|currently|speciali[sz]\w*|focus\w*|to\s|because|since|turned|whose|"
    r"that|where|as|now|these)\b.*$"
)


_JOB_QUALIFIER = re.compile(
    r"(?i)^(?:(?:an?|the|one\s+of|full[\s-]time|part[\s-]time|self-employed|trained|qualified|"
    r"registered|certified|licensed|practi[sc]ing|professional|fellow|humble|proud|busy|"
    r"newly\s+qualified|simple|hands-on|passionate|dedicated|successful|aspiring|budding|seasoned|"
    r"experienced|self-taught|mere|bit\s+of\s+a|local|young|new|single|\d+[\s-]year[\s-]old|British|"
    r"American|German|French|Italian|Spanish|Indian|Dutch|Canadian)\s+)+"
)


def job_title(phrase: str) -> str | None:
    """The occupation a phrase names ("senior data engineer at X" → "senior data engineer"), or None."""
    phrase = re.split(r",|\(|\u2039", phrase)[0]
    phrase = _JOB_TAIL.sub("", " " + phrase).strip(" .!?'\"-")
    if re.search(
        r"(?i)\b(?:aspiring|wannabe|amateur|hobby|bad|terrible|great|good|decent|lousy|big|huge|avid|"
        r"keen|retired|former|ex|natural|fast|slow|light|heavy|early|late)\b",
        phrase,
    ):
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
    if (
        phrase
        and len(phrase.split()) <= 6
        and not re.match(
            r"(?i)(?:to|very|so|not|really|too|hard|great|boring|stressful|quite|pretty|killing|going|"
            r"on|in|at|demanding|my|hell|awful|fine|a\s+(?:nightmare|joke|lot|mess))\b",
            phrase,
        )
        and not phrase.lower().endswith("ing")
    ):
        rows.append({"fact_key": "job_title", "item": phrase})
    at = re.search(r"\b(?:at|for|with(?=\s(?:the\s)?[A-Z]))\s+(?!home\b)(.+)$", groups["obj"])
    return rows + (employer({"obj": at.group(1)}, context) if at and rows else [])


_NO_EMPLOYER = re.compile(
    r"(?i)^(?:home|night|nights|the\s+(?:moment|weekend|same|best|time|office|last|past|other)|least|"
    r"all|now|me|you|it|him|her|them|this|that|myself|ourselves|free|fun|money|hours|years|over|about|"
    r"almost|\d|a\s+(?:while|living|long|year|month|few|better|raise|promotion)|two|three|four|five|"
    r"six|seven|eight|nine|ten|many|everyone|everybody|the\s+(?:next|first)|once|work|ages|my\s+own|"
    r"good)\b"
)


@parser
def employer(groups: Groups, context: Context) -> list[Row]:
    """A company or kind of workplace."""
    phrase = re.split(r",|\(|\u2039", groups["obj"])[0]
    if _NO_EMPLOYER.match(phrase):
        return []
    cap = re.match(
        r"^(?:the\s+)?((?:[\p{Lu}\d][\p{L}\d&.'’+-]*)(?:\s(?:(?:of|the|and|&|for|"
        r"de)\s)?[\p{Lu}\d][\p{L}\d&.'’+-]*){0,4})",
        phrase,
    )
    if cap:
        return [{"fact_key": "employer", "item": re.sub(r"(?i)\s+(?:in|and)$", "", cap.group(1)).strip(" .")}]
    if context.clause.raw.islower() and (
        word := re.match(r"(?!an?\b|the\b|my\b|our\b|it\b)([a-z][\w&-]+)[!.\s]*$", phrase)
    ):
        return [{"fact_key": "employer", "item": word.group(1)}]
    kind = re.match(r"(?i)^(?:an?|the|our|my)\s+(.+)$", trim(phrase))
    if kind:
        what = re.sub(
            r"(?i)\s+(?:in|near|as|doing|and|called|named|from|based|here|right|that|who|downtown|"
            r"nearby|abroad|remotely)\b.*$",
            "",
            kind.group(1),
        )
        named = re.search(r"(?i)\b(?:called|named)\s+([A-Z][\w&.-]*(?:\s[A-Z][\w&.-]*)*)", phrase)
        if named:
            return [{"fact_key": "employer", "item": named.group(1)}]
        if re.search(
            r"(?i)\b(?:team|project|goal|living|solution|deadline|degree|increase|salary|raise|book|"
            r"app|presentation|exam|test|problem|way|paper|thesis|report|plan|design|day|week|year|"
            r"month|future|change|cause|hobby|client|reason|change|computer|desk|feature|website|"
            r"triangle|mindset|same|people|family|public|movie|song|game)$",
            what,
        ):
            return []
        return [{"fact_key": "employer", "item": what}] if 0 < len(what.split()) <= 5 else []
    return []


@parser
def field_of_work(groups: Groups, context: Context) -> list[Row]:
    """ "I work in finance"."""
    phrase = bare(trim(re.split(r",|\(", groups["obj"])[0]))
    phrase = re.sub(r"(?i)\s+(?:at|for|in)\s+.*$", "", phrase)
    if (
        not phrase
        or places.kind(phrase)
        or not _nounlike(phrase)
        or len(phrase.split()) > 4
        or re.match(
            r"(?i)(?:the\s+)?(?:office|morning|evening|afternoon|night|shifts?|progress|team|teams|"
            r"groups|person|tech\s+stack|excel|python|my)\b",
            phrase,
        )
    ):
        return []
    if (
        phrase[:1].isupper()
        and phrase.upper() != phrase
        and not re.match(r"(?i)(?:marketing|finance|tech|sales|education|healthcare|insurance)", phrase)
    ):
        return [{"fact_key": "work_location", "item": phrase}] if places.kind(phrase) == "city" else []
    return [{"fact_key": "industry", "item": phrase}]


@parser
def former(groups: Groups, context: Context) -> list[Row]:
    """An employer only in "no longer with …": "I'm with Deloitte" may be a meeting."""
    return employer(groups, context) if context.clause.anymore else []


@parser
def study_place(groups: Groups, context: Context) -> list[Row]:
    """A school or university by its capitalised name."""
    found = re.match(
        r"^(?:the\s+)?([\p{Lu}][\p{L}.&'’-]*(?:\s(?:(?:of|the|and|in|for|de|at)\s){0,2}[\p{Lu}][\p{L}.&'’-]*){0,5})",
        groups["obj"],
    )
    return [{"item": re.sub(r"\s+in\s+\w+$", "", found.group(1))}] if found and not proper_month(found.group(1)) else []


def proper_month(text: str) -> bool:
    """`text` is a month or weekday name."""
    return re.fullmatch(rf"(?i){quantities.MONTH}|{quantities.WEEKDAY}", text) is not None


@parser
def field(groups: Groups, context: Context) -> list[Row]:
    """A subject of study, and the university when it follows."""
    phrase = re.split(r",|\(", groups["obj"])[0]
    parts = re.split(r"(?i)\s+(?:at|from)\s+(?=(?:the\s+)?(?-i:[A-Z]))", phrase, maxsplit=1)
    subject = re.sub(
        r"(?i)\s+(?:at|in|from|for|with|abroad|part-time|full-time|hard|online|right|so|to)\b.*$",
        "",
        bare(trim(parts[0])),
    )
    if (
        not subject
        or len(subject.split()) > 5
        or re.match(
            r"(?i)(?:hard|abroad|for|at|in|it|this|that|my|the\s+(?:effect|impact)|a\s+lot|late|all|"
            r"together|up|how|what|your|harder|online|more|every|with|alone|better|best)\b",
            subject,
        )
    ):
        return []
    rows = [{"fact_key": "field", "item": subject}]
    if len(parts) > 1:
        rows += [{"fact_key": "university", **row} for row in study_place({"obj": parts[1]}, context)]
    return rows


@parser
def student(groups: Groups, context: Context) -> list[Row]:
    """ "a second-year medical student at Leeds"."""
    rows: list[Row] = []
    level = re.search(
        r"(?i)\b(phd|doctoral|master'?s|graduate|grad|undergraduate|college|university|uni|"
        r"high[\s-]school|exchange|postgraduate|first-year|second-year|third-year|final-year|mba)\b",
        groups["level"],
    )
    subject = re.sub(
        r"(?i)\b(?:phd|doctoral|master'?s|graduate|grad|undergraduate|undergrad|college|university|"
        r"uni|high[\s-]school|exchange|postgraduate|\w+-year|full-time|part-time|mature|mba|"
        r"international|foreign|broke|poor|an?|the|good|current|\d\w*\s+year|(?:first|second|third|"
        r"fourth|final)\s+year)\b\s*",
        "",
        groups["level"],
    ).strip()
    rows.append({"fact_key": "student", "item": f"{level.group(1)} student" if level else "true"})
    subject = (groups.get("field") or subject).strip()
    if subject and len(subject.split()) <= 4:
        rows.append({"fact_key": "field", "item": trim(subject)})
    if groups.get("at"):
        rows += [{"fact_key": "university", **row} for row in study_place({"obj": groups["at"]}, context)]
    return rows


@parser
def teaches(groups: Groups, context: Context) -> list[Row]:
    """ "I teach chemistry at a high school": a teacher of something."""
    subject = re.split(r"(?i)\s+(?:at|to|in|for|part-time|online|on|every|and)\s+", trim(groups["obj"]))[0]
    if not subject or len(subject.split()) > 3 or re.match(r"(?i)(?:a|an|the|people|myself|yoga\s+class)\b", subject):
        return []
    return [{"fact_key": "job_title", "item": f"{subject} teacher"}]


@parser
def office(groups: Groups, context: Context) -> list[Row]:
    """The city of the workplace."""
    parts = place_parts(groups["obj"])
    return [{"item": parts[0][1]}] if parts else []


@parser
def degree(groups: Groups, context: Context) -> list[Row]:
    """ "a master's in physics from MIT": degree, field and university."""
    if re.search(r"(?i)^degree\s*$", groups["deg"]) and not groups.get("field"):
        return []
    rows: list[Row] = [{"fact_key": "degree", "item": groups["deg"].strip()}]
    if groups.get("field"):
        rows += [r for r in field({"obj": groups["field"]}, context)]
    if groups.get("at"):
        rows += [{"fact_key": "university", **row} for row in study_place({"obj": groups["at"]}, context)]
    return rows


_SCHOOL = re.compile(
    r"(?i)\b(?:university|college|school|institute|academy|uni|polytechnic|mit|ucla|eth|stanford|"
    r"harvard|yale|oxford|cambridge|princeton|berkeley|lse|ucl|nyu|epfl|caltech|sorbonne|"
    r"georgia\s+tech|tu\s+\w+|cornell|columbia|dartmouth|brown|duke|usc|state|imperial|tech)\b"
)


@parser
def university(groups: Groups, context: Context) -> list[Row]:
    """A school by name; "go to Rome" is none, "study at Leeds" is one."""
    rows = study_place(groups, context)
    if rows and (
        _SCHOOL.search(rows[0]["item"])
        or re.search(r"(?i)\b(?:stud(?:y|ied|ying)|enrolled|student|accepted)\b", context.clause.text)
    ):
        return rows
    return []


@parser
def gone_job(groups: Groups, context: Context) -> list[Row]:
    """A job that is over: the employer if named, else whatever is known."""
    what = (groups.get("obj") or "").strip()
    if not what:
        return [{"fact_key": "employer", "item": ""}]
    if what[:1].isupper() and places.kind(what) and "job" not in context.clause.text:
        return []
    if what[:1].isupper() or " at " in context.clause.text:
        return employer(
            {"obj": what if what[:1].isupper() else "the " + re.sub(r"(?i)^(?:the|an?)\s+", "", what)}, context
        )
    return [{"fact_key": "job_title", "item": trim(what)}]


@parser
def freelance(groups: Groups, context: Context) -> list[Row]:
    """ "I do freelance design": the status, and the field."""
    rows = [{"fact_key": "employment_status", "item": "freelance"}]
    what = re.sub(r"(?i)\s+(?:work|jobs|stuff|projects|gigs)$", "", trim(groups["obj"]))
    if what.lower() in ("work", "jobs", "stuff", "projects", "gigs", "") or len(what.split()) > 3:
        return rows
    return [*rows, {"fact_key": "industry", "item": what}]
