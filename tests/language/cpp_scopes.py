# SPDX-License-Identifier: MIT
"""Identifiers of a C++ source, the declarations that enclose them, and the types they are declared with."""

import re
from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple

from cpp_tokens import CppSource

_WORD = re.compile(r"(?<!\w)[A-Za-z_]\w*")
_TOKEN = re.compile(r"(?<!\w)[A-Za-z_]\w*|\w+|::|->|<<|>=|<=|==|!=|&&|\|\||[^\w\s]")
_NOT_A_NAME = {"alignas", "decltype", "noexcept", "requires", "__attribute__", "explicit", "if", "static_assert"}
_CLASS_KEYS = {"class", "struct", "union", "enum"}
# Words that stand before a name in an expression, not in a declaration.
_NOT_A_TYPE = {
    "return", "throw", "new", "delete", "case", "goto", "co_return", "co_await", "co_yield", "else", "do", "not", "and",
    "or", "in", "operator", "typename", "using", "namespace", "sizeof", "auto", "const", "constexpr", "explicit",
    "virtual", "friend", "inline", "static", "public", "protected", "private",
}  # fmt: skip


class Word(NamedTuple):
    """An identifier in the code."""

    text: str
    begin: int
    end: int
    is_member: bool  # after `.` or `->`
    is_qualified: bool  # after `::`


class Scope(NamedTuple):
    """A declaration at the level of a namespace or a class, with its body and the comments before it."""

    name: str  # "planner_of", "Supervisor::finish"
    begin: int
    end: int

    def is_called(self, name: str) -> bool:
        """True if this is the name, with or without the classes before it."""
        return self.name == name or self.name.endswith("::" + name)


class CppNames:
    """The identifiers and scopes of one source."""

    def __init__(self, path: str, source: str):
        self.path = path
        self.cpp = CppSource(path, source)
        self.code = self.cpp.code()
        self.words: List[Word] = list(_words(self.code))
        self._scopes: Optional[List[Scope]] = None

    def scopes(self) -> List[Scope]:
        """Returns the scopes, outer ones first."""
        if self._scopes is None:
            comments = {token.end: token.begin for token in self.cpp.tokens() if token.kind == "comment"}
            found = _ScopeReader(self.code).read()
            self._scopes = [
                Scope(s.name, _comments_before(self.cpp.source, comments, s.begin), s.end) for s in found
            ]
        return self._scopes

    def declared_types(self, name: str) -> Dict[str, List[int]]:
        """Returns the types that declarations of `name` state, without arguments of templates, and where they are."""
        result: Dict[str, List[int]] = {}
        for match in re.finditer(r"\b%s\b" % re.escape(name), self.code):
            before = self.code[max(0, match.start() - 200) : match.start()]
            after = self.code[match.end() : match.end() + 9].lstrip()
            type_name = "" if after.startswith("::") else _type_before(before, after[:1])
            if type_name:
                result.setdefault(type_name, []).append(match.start())
        return result


def _words(code: str) -> Iterator[Word]:
    for match in _WORD.finditer(code):
        before = code[max(0, match.start() - 80) : match.start()].rstrip()
        is_member = before.endswith("->") or (before.endswith(".") and not before.endswith("..."))
        yield Word(match.group(), match.start(), match.end(), is_member, before.endswith("::"))


def _type_before(before: str, after: str) -> str:
    """Returns the type in a declaration, from the text before its name and the character after it."""
    class_key = re.search(r"\b(class|struct|union|enum)\s+$", before)
    if class_key:
        return class_key.group(1)
    if after not in set("=;,(){:[|"):
        return ""
    # clang-format writes `Type& name` for a declaration and `a & name` for an operator.
    match = re.search(
        r"(?P<type>[A-Za-z_]\w*(?:::\w+)*)(?P<args><[^;{}()]*>)?(?:\s+const)?(?:[&*]+(?:\s*const)?\s*|\s+)$", before
    )
    if not match or match.group("type") in _NOT_A_TYPE:
        return ""
    if before[: match.start()].rstrip().endswith((".", "->")):
        return ""
    return match.group("type").split("::")[-1]


def _comments_before(source: str, comments: Dict[int, int], begin: int) -> int:
    """Returns where the comments begin that stand directly before an offset."""
    while True:
        end = len(source[:begin].rstrip())
        if end not in comments or source.count("\n", end, begin) > 1:
            return begin
        begin = comments[end]


class _ScopeReader:
    """Reads declarations from code without comments and literals."""

    def __init__(self, code: str):
        self._code = code
        self._tokens: List[Tuple[str, int]] = [
            (m.group(), m.start()) for m in _TOKEN.finditer(re.sub(r"(?m)^[ \t]*#(?:\\\n|.)*$", _blank, code))
        ]
        self._at = 0
        self._found: List[Scope] = []

    def read(self) -> List[Scope]:
        """Returns all declarations, outer ones first."""
        while self._at < len(self._tokens):
            self._read_body("")
            self._at += 1  # a brace that nothing opens
        return sorted(self._found, key=lambda scope: (scope.begin, -scope.end))

    def _read_body(self, outer: str) -> None:
        """Reads declarations up to the brace that closes this body."""
        while self._at < len(self._tokens) and self._tokens[self._at][0] != "}":
            self._read_declaration(outer)

    def _skip_braces(self) -> None:
        depth = 0
        while self._at < len(self._tokens):
            text = self._tokens[self._at][0]
            depth += (text == "{") - (text == "}")
            self._at += 1
            if depth <= 0:
                return

    def _read_declaration(self, outer: str) -> None:
        first = self._at
        head: List[str] = []
        parens = 0
        while self._at < len(self._tokens):
            text, offset = self._tokens[self._at]
            if text == ";" and parens == 0:
                self._at += 1
                self._add(outer, head, first, offset + 1)
                return
            if text == "}" and parens == 0:
                self._add(outer, head, first, offset)
                return
            if text == "{" and parens == 0:
                if self._read_braces(outer, head, first):
                    return
                head.append("{}")
                continue
            if text == "{":
                self._skip_braces()
                continue
            parens += (text in "([") - (text in ")]")
            head.append(text)
            self._at += 1
            if text == ":" and parens == 0 and head[:-1] and head[-2] in ("public", "private", "protected"):
                head, first = [], self._at
        self._add(outer, head, first, len(self._code))

    def _read_braces(self, outer: str, head: List[str], first: int) -> bool:
        """Reads a block in braces. Returns whether the declaration ends with it."""
        is_class = _class_name(head)
        if not head or "namespace" in head[:2] or head == ["extern"]:
            self._at += 1
            self._read_body(outer)
            self._at += 1
            return True
        if is_class is not None:
            inner = f"{outer}::{is_class}" if outer else is_class
            self._at += 1
            if head[0] == "enum":
                self._at -= 1
                self._skip_braces()
            else:
                self._read_body(inner)
                self._at += 1
            if self._at < len(self._tokens) and self._tokens[self._at][0] == ";":
                self._at += 1
            self._add_named(inner, first)
            return True
        self._skip_braces()
        is_function = "(" in head and "=" not in _outside_parens(head)
        if is_function and not self._is_in_initializers(head):
            self._add(outer, head, first, self._end_of_last())
            return True
        return False

    def _is_in_initializers(self, head: List[str]) -> bool:
        """True if the braces are those of a member's initializer, before the body of a constructor."""
        if ":" not in _outside_parens(head) or not re.match(r"[A-Za-z_]\w*$|>$", head[-1]):
            return False
        following = self._tokens[self._at][0] if self._at < len(self._tokens) else ""
        return following in (",", "{")

    def _end_of_last(self) -> int:
        text, offset = self._tokens[self._at - 1]
        return offset + len(text)

    def _add(self, outer: str, head: List[str], first: int, end: int) -> None:
        name = _declared_name(head)
        if name:
            begin = self._tokens[first][1]
            self._found.append(Scope(f"{outer}::{name}" if outer else name, begin, end))

    def _add_named(self, name: str, first: int) -> None:
        self._found.append(Scope(name, self._tokens[first][1], self._end_of_last()))


def _blank(match: "re.Match[str]") -> str:
    return re.sub(r"[^\n]", " ", match.group())


def _outside_parens(head: List[str]) -> List[str]:
    """Returns the tokens outside parentheses and the arguments of templates."""
    result: List[str] = []
    parens = angles = 0
    for position, text in enumerate(head):
        if text in ")]":
            parens -= 1
        if parens == 0 and text == ">" and angles:
            angles -= 1
            continue
        if parens == 0 and text == "<" and position and re.match(r"\w", head[position - 1]):
            angles += 1
        if parens == 0 and angles == 0:
            result.append(text)
        if text in "([":
            parens += 1
    return result


def _class_name(head: List[str]) -> Optional[str]:
    """Returns the name of the class whose body follows, "" if it has none, or nothing if no body follows."""
    flat = _outside_parens(head)
    keys = [position for position, text in enumerate(flat) if text in _CLASS_KEYS]
    if not keys or "(" in flat or "=" in flat:
        return None
    for position in range(keys[-1] + 1, len(flat)):
        if flat[position] in (":", "{}"):
            break
        if re.match(r"[A-Za-z_]", flat[position]) and flat[position] not in ("class", "struct", "final"):
            names = [flat[position]]
            while position + 2 < len(flat) and flat[position + 1] == "::":
                names.append(flat[position + 2])
                position += 2
            return "::".join(names)
    return ""


def _declared_name(head: List[str]) -> str:
    """Returns what a declaration declares: "f", "Class::f", a variable, or "" if that is not clear."""
    flat = _outside_parens(head)
    for position, text in enumerate(flat):
        if text == "=":
            break
        if text == "(" and position and flat[position - 1] not in _NOT_A_NAME:
            return _qualified(flat, position - 1)
    end = next((p for p, text in enumerate(flat) if text in ("=", "{}", ":", "[")), len(flat))
    return _qualified(flat, end - 1) if end else ""


def _qualified(flat: List[str], at: int) -> str:
    if not re.match(r"[A-Za-z_]", flat[at]):
        return ""
    names = [flat[at]]
    while at >= 2 and flat[at - 1] == "::":
        names.insert(0, flat[at - 2])
        at -= 2
    return "::".join(names)
