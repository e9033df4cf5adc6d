# SPDX-License-Identifier: MIT
"""The rules of commit messages: an imperative subject of at most 72 characters, and a wrapped body."""

import re
from typing import FrozenSet, List, Optional

MAX_COLUMNS = 72

# Verbs that begin subjects. The form of another first word follows from its ending alone.
VERBS: FrozenSet[str] = frozenset("""
    abort accept activate adapt add address adjust adopt advertise align allow anchor annotate announce append
    apply archive ask assert assign attach audit authenticate avoid await back backport balance batch begin
    benchmark bind block bound break bring buffer build bump bundle bypass cache calculate call cancel cap
    capture cast catch change check choose clamp clarify clean clear clone close collapse collect color colour
    combine comment commit compare compile complete comply compress compute condense configure confirm connect
    consolidate constrain consume continue convert copy correct count cover create cut deal declare decode
    decouple deduplicate default defer define delay delegate delete deny deprecate derive describe detach detect
    determine disable discard disconnect discover display distinguish divide document download drain draw drop
    dump duplicate embed emit emulate enable encode end enforce enlarge ensure enter enumerate escape establish
    estimate evaluate exchange exclude execute exit expand expect explain export expose express extend extract
    fail favor favour feed fetch fill filter find finish fix flag flatten flush fold follow forbid force forget
    fork format forward free freeze gate gather generate get give group guard guess halt hand handle harden hash
    hide highlight hoist hold honor honour identify ignore implement import improve include increase index infer
    inherit initialise initialize inject inline input insert inspect install instrument integrate introduce
    invalidate invert invoke isolate iterate join jump keep kill label launch lay lead leave lengthen let lift
    limit link lint list load lock log look loosen lower make map mark mask match measure merge migrate minimise
    minimize mirror mock modernise modernize modify monitor mount move multiply mute name narrow normalise
    normalize note notify number obey obtain offer omit open optimise optimize order organise organize output
    override pack pad parametrise parametrize parse partition pass patch perform permit persist pick pin place
    plan point poll pool populate port postpone precompute prefer prefix prepare preserve prevent print
    prioritise prioritize probe process produce profile prohibit promote propagate protect prove provide prune
    publish pull purge push put qualify query queue quote raise randomise randomize rank read reap rearrange
    rebase rebuild recalculate recognise recognize recommend reconnect record recover redact redefine redirect
    reduce refactor refer refine reflect reformat refresh refuse regenerate register reimplement reject relax
    release reload rely remember remove rename render reopen reorder reorganise reorganize repair repeat replace
    reply report reproduce request require rerun reserve reset reshape resolve respect restart restore restrict
    restructure resume retry return reuse reverse revert review revise rewind rework rewrite roll rotate round
    route run sanitise sanitize save say scale scan schedule scope search see seed seek select send separate
    serialise serialize serve set share shift shorten show shrink shut sign signal silence simplify simulate
    skip sleep snapshot solve sort spawn specify speed split stabilise stabilize stage standardise standardize
    start state stay steer stop store stream strengthen strip structure submit subscribe substitute suggest
    summarise summarize supply support suppress surface survive suspend swap switch sync synchronise synchronize
    tag take teach tell terminate test throw tidy tie tighten time toggle tolerate trace track transform
    translate treat trigger trim truncate trust try tune turn type unblock undo unescape unify unlink unload
    unlock unmount unset unwrap update upgrade upload use validate vendor verify wait wake walk warn watch
    weaken widen wire wrap write yield zero
    """.split())
_NOT_VERBS: FrozenSet[str] = frozenset("""
    a an the this that these those it its they their them we our us i my you your he she his her who whose whoever
    nobody somebody everybody everything nothing something all any both each either every few many most much neither no
    none not one other some such several two three four five six seven eight nine ten
    in on at by for from of off to into onto with without within about above after again against along among around as
    before behind below beside between beyond but down during except inside like near out outside over per since through
    till toward towards under until up upon via
    and or nor so yet if unless because although though while whereas when whenever where wherever what which why how
    whether than then there here now once too very more less just even still already
    is are was were be been has have had does did can could may might must shall should will would
    another new old first last next later better faster higher nicer bad good basic initial multiple proper real simple
    small began broke built came chose gave got kept lost made ran sent took went wrote
    documentation bug bugfix hotfix misc minor typo typos wip todo
    """.split())
# First words whose endings look like those of other forms, but which are imperatives.
_ENDS_LIKE_PAST = frozenset("embed exceed feed heed need proceed seed shed shred speed succeed weed".split())
_ENDS_LIKE_GERUND = frozenset("bring cling ping ring spring swing".split())
_ENDS_LIKE_THIRD_PERSON = frozenset("alias bias canvas focus".split())
_NOUN_ENDINGS = re.compile(
    r"(?:[a-z]{3,}ness|[a-z]{2,}(?:sion|ity)|[a-z]{2,}(?:at|it|ct|pt|ut)ion|[a-z]{3,}(?:ance|ence|ology))$"
)
_ENDS_LIKE_NOUN = frozenset(
    "advance balance caution condition enhance fence function mention position provision question reference reposition "
    "sequence silence station transition vision".split()
)
_FINITE = frozenset("is are was were has have had does did can could may might must shall should will would".split())
_THIRD_PERSON = frozenset(
    "accepts allows asks becomes begins binds brings chooses comes does finds gives goes hears keeps knows leaves "
    "lets makes obeys refuses rejects says sees sends takes tells understands wants".split()
)
_RELATIVE = frozenset("what that which who where when if how why because as than".split())
_BEFORE_VERB = re.compile(r"(?:[Aa]lways|[Nn]ever|[Oo]nly|[Aa]lso|[Dd]o|[Nn]ot|[Dd]on't|[A-Z][a-z]+ly)$")
_QUOTED = re.compile(r"\"[^\"]*\"|`[^`]*`|(?<!\w)'[^']*'")
_GENERATED = re.compile(r"(?:Merge (?:branch|branches|tag|commit|remote-tracking|pull request)|Revert \")")
_AUTOSQUASH = re.compile(r"(?:fixup|squash|amend)! ")
_TRAILER = re.compile(r"[A-Z][A-Za-z]*(?:-[A-Za-z]+)+: \S")


def mood_problem(subject: str) -> Optional[str]:
    """Returns why a subject's first words are not an imperative, or None."""
    words = _QUOTED.sub("X", subject).split()
    while len(words) > 1 and _BEFORE_VERB.match(words[0]) and words[0].lower() not in VERBS:
        words = [words[1].capitalize(), *words[2:]]  # "Do not", "Always"
    first = words[0] if words else ""
    if not re.fullmatch(r"[A-Z][a-z]+(?:-[a-z]+)*,?", first):
        return f"begins with '{first}', not with a verb"
    verb = first.lower().rstrip(",")
    following = [word.lower() for word in words[1:] if not word.startswith("-")]
    if verb not in _NOT_VERBS and _is_sentence(verb, following):
        return f"is a sentence that begins with '{first}', not an imperative"
    if verb in VERBS or verb.split("-")[-1] in VERBS:
        return None
    if verb in _NOT_VERBS:
        return f"begins with '{first}', which is not a verb"
    form = _other_form(verb)
    return f"begins with '{first}', which is not an imperative ({form})" if form else None


def _is_sentence(first: str, following: List[str]) -> bool:
    """Returns whether a finite verb follows the first word, which is a noun then."""
    if not following:
        return False
    if following[0] in _FINITE or following[0] in _THIRD_PERSON:
        return True
    if first in VERBS or first.split("-")[-1] in VERBS:
        return False
    if following[0].endswith("s") and following[0][:-1] in VERBS:
        return True
    near = following[:4]
    return any(word in _FINITE | _THIRD_PERSON and before not in _RELATIVE for before, word in zip(near, near[1:]))


def _other_form(verb: str) -> Optional[str]:
    """Returns which form a word has that is not a verb of the list, or None if it may be an imperative."""
    if verb.endswith("ed") and verb not in _ENDS_LIKE_PAST:
        return "past tense"
    if verb.endswith("ing") and verb not in _ENDS_LIKE_GERUND:
        return "gerund"
    if verb.endswith("s") and not verb.endswith("ss") and verb not in _ENDS_LIKE_THIRD_PERSON:
        return "third person or plural"
    if _NOUN_ENDINGS.search(verb) and verb not in _ENDS_LIKE_NOUN:
        return "noun"
    return None


def subject_problems(subject: str) -> List[str]:
    """Returns what is wrong with the subject of a commit."""
    if _GENERATED.match(subject):
        return []
    problems = []
    if len(subject) > MAX_COLUMNS:
        problems.append(f"has {len(subject)} characters, more than {MAX_COLUMNS}")
    if subject.endswith("."):
        problems.append("ends with a full stop")
    if ";" in subject:
        problems.append("has a semicolon: use one commit for one change")
    if not subject[:1].isupper():
        problems.append("does not begin with a capital letter")
    else:
        mood = mood_problem(subject)
        if mood:
            problems.append(mood)
    return problems


def _may_be_wide(line: str) -> bool:
    """Returns whether a line of a body may be wider: quoted output, a trailer, or one word that cannot be wrapped."""
    return line.startswith(("    ", "\t", ">")) or bool(_TRAILER.match(line)) or len(line.lstrip(" -*").split()) < 2


def body_problems(lines: List[str]) -> List[str]:
    """Returns what is wrong with the lines after a subject."""
    problems = []
    if lines and lines[0].strip():
        problems.append("line 2 is not empty")
    for number, line in enumerate(lines, 2):
        if len(line) > MAX_COLUMNS and not _may_be_wide(line):
            problems.append(f"line {number} has {len(line)} characters, more than {MAX_COLUMNS}")
    return problems


def message_problems(message: str) -> List[str]:
    """Returns what is wrong with a whole message, as Git stores it."""
    lines = message.rstrip().split("\n")
    problems = [f"the subject {problem}" for problem in subject_problems(lines[0])]
    if _GENERATED.match(lines[0]):
        return problems
    return problems + body_problems(lines[1:])


def cleaned(text: str) -> str:
    """Returns the message of a file that Git passes to a commit-msg hook.

    Comments are removed, and so is all text after a scissors line.
    """
    kept = []
    for line in text.splitlines():
        if re.match(r"# -+ >8 -+", line):
            break
        if not line.startswith("#"):
            kept.append(line.rstrip())
    return "\n".join(kept).strip("\n")


def hook_problems(text: str) -> List[str]:
    """Returns what is wrong with the message that a commit-msg hook is to check."""
    message = cleaned(text)
    if not message or _AUTOSQUASH.match(message):
        return []  # Git refuses the one, a rebase replaces the other
    return message_problems(message)
