"""Functions of C++ with the parameters they take, read from text alone.

Enough for this repository, which clang-format lays out: bodies are skipped (so lambdas are not counted), and a statement between them is a
function where a name stands before its first parenthesis.
"""

import re

CODE_OR_NOT = re.compile(r'//[^\n]*|/\*.*?\*/|R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|'
                         r"(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])*'|^[ \t]*#(?:\\\n|[^\n])*", re.S | re.M)
SCOPE = re.compile(r"^(?:template\s*<.*>\s*)?(?:inline\s+)?(namespace|extern|class|struct|union)\b\s*(?:alignas\([^)]*\)\s*)?([\w:]*)[^()=]*$", re.S)
NO_FUNCTION = re.compile(r"^(?:using|typedef|enum|friend|static_assert|return|namespace)\b")
LABEL = re.compile(r"^(?:public|private|protected)\s*:\s*")
NO_NAME = re.compile(r"\b(?:requires|decltype|explicit|alignas|noexcept)\s*$")  # parentheses follow, and are not a function's
NAME = re.compile(r"((?:\w+::)*(?:operator\s*(?:\(\)|[^\s\w(]+|[\w ]+)|~?\w+))\s*$")


def stripped(text):
    """Comments, texts and preprocessor lines as blanks, line for line."""
    return CODE_OR_NOT.sub(lambda found: '""' + "\n" * found.group().count("\n") if found.group()[0] in "\"'R" else "\n" * found.group().count("\n"), text)


def closing(text, at):
    """Where the bracket that opens at `at` is closed."""
    depth = 0
    for here in range(at, len(text)):
        if text[here] in "({[":
            depth += 1
        elif text[here] in ")}]":
            depth -= 1
            if not depth:
                return here
    return len(text) - 1


def parts(text):
    """Split at commas that stand in no bracket."""
    depth, begin, found = 0, 0, []
    for at, sign in enumerate(text):
        if sign in "({[<":
            depth += 1
        elif sign in ")}]" or (sign == ">" and text[at - 1] not in "-="):
            depth -= 1
        elif sign == "," and not depth:
            found.append(text[begin:at])
            begin = at + 1
    return [part for part in [*found, text[begin:]] if part.strip() not in ("", "void")]


def open_parenthesis(head):
    """The one behind a function's name, or None: `=` before it begins a value."""
    depth, at = 0, -1
    while (at := at + 1) < len(head):
        sign = head[at]
        if sign == "<" and not head[:at].endswith("operator"):
            depth += 1
        elif sign == ">" and depth:
            depth -= 1
        elif sign == "=" and not depth and "operator" not in head[:at]:
            return None
        elif sign == "(" and not depth:
            if not NO_NAME.search(head[:at]):
                return at
            at = closing(head, at)
    return None


def function_of(head, classes):
    """(qualified name, parameters) where the statement is a function."""
    if NO_FUNCTION.match(head):
        return None
    at = open_parenthesis(head)
    if at is not None and head[:at].endswith("operator"):
        at += 2  # what is called is "()"
    name = NAME.search(head[:at]) if at is not None else None
    if not name:
        return None
    return "::".join([*classes, name.group(1)]), parts(head[at + 1:closing(head, at)])


def functions(text):
    """(line, qualified name, parameters) of every function declared or defined outside of bodies; names are qualified by classes only."""
    text = stripped(text)
    scopes, begin, at = [], 0, 0
    while at < len(text):
        sign = text[at]
        head = LABEL.sub("", text[begin:at].strip())
        if sign == "(":
            at = closing(text, at)
        elif sign == "}":
            if scopes:
                scopes.pop()
            begin = at + 1
        elif sign == "{" and (scope := SCOPE.match(head)):
            scopes.append(scope.group(2) if scope.group(1) in ("class", "struct", "union") else None)
            begin = at + 1
        elif sign in "{;":
            found = function_of(head, [name for name in scopes if name])
            # A member's value in braces (`: a_{a}, b_{b} {`) is no body: that stands after `)`, `}` or a word after the parameters.
            value = sign == "{" and (not found or re.search(r"\)[^()]*[^:]:[^:].*[\w>]$", head, re.S))
            if found and not value:
                yield text.count("\n", 0, begin + len(text[begin:at]) - len(text[begin:at].lstrip())) + 1, *found
            if sign == "{":
                at = closing(text, at)
            if not value:
                begin = at + 1
        at += 1


def functions_with(least, root, paths):
    """(path, line, qualified name, parameters) of each that takes so many at least, once: what is declared in a header is not counted again
    where it is defined, nor what a .cpp declares first. Overloads with as many parameters are told apart in headers only."""
    found, counted = [], set()
    for path in sorted(paths, key=lambda path: (path.endswith(".cpp"), path)):
        own = path if path.endswith(".cpp") else ""
        for line, name, taken in functions((root / path).read_text(encoding="utf-8")):
            if len(taken) < least or {("", name, len(taken)), (own, name, len(taken))} & counted and own:
                continue
            types = tuple(re.sub(r"\s*=.*$|\b\w+\s*$", "", " ".join(part.split())) for part in taken)
            if (name, types) in counted:
                continue
            counted |= {(own, name, len(taken)), (name, types)} if not own else {(own, name, len(taken))}
            found.append((path, line, name, taken))
    return found
