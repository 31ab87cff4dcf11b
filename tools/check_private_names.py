#!/usr/bin/env python3
"""Checks that files which are compiled as one have no private name in common.

Sanitizer builds and clang-tidy read several files of a folder as one, so that names in unnamed namespaces meet. Found
are functions with the same parameters and types or constants with the same name, in two files of one folder of src, of
which at least one is private. Files of src/compiled_alone.txt stay alone and may repeat what others have.
"""

import re
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from check_budgets import blank

ROOT = Path(__file__).resolve().parent.parent
TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.']*|::|->|\[\[|\]\]|<<=|<=>|[=!<>]=|&&|\|\||<<|\+\+|--|\S")
CLOSING = {"(": ")", "[": "]", "{": "}", "[[": "]]"}
NAME = re.compile(r"[A-Za-z_]\w*$")
QUALIFIERS = {"const", "volatile", "typename", "struct", "class", "enum"}
BASIC_TYPES = {"auto", "bool", "char", "double", "float", "int", "long", "short", "signed", "unsigned", "void"}
TYPE_WORDS = {"struct", "class", "enum", "union"}


@dataclass(frozen=True)
class Definition:
    key: tuple  # what may stand once in a translation unit
    shown: str
    private: bool
    line: int


def match_close(tokens, start):
    """The index after the bracket that closes the one at `start`."""
    stack = []
    for i in range(start, len(tokens)):
        if tokens[i][0] in CLOSING:
            stack.append(CLOSING[tokens[i][0]])
        elif stack and tokens[i][0] == stack[-1]:
            stack.pop()
            if not stack:
                return i + 1
    return len(tokens)


def skip_template(words, start):
    """The index after the angle brackets that begin at `start`."""
    depth = 0
    for i in range(start, len(words)):
        depth += {"<": 1, ">": -1}.get(words[i], 0)
        if depth == 0:
            return i + 1
    return len(words)


def split_commas(words):
    parts, depth = [[]], 0
    for word in words:
        depth += {"(": 1, "[": 1, "{": 1, "<": 1, ")": -1, "]": -1, "}": -1, ">": -1}.get(word, 0)
        if word == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(word)
    return [part for part in parts if part]


def parameter_type(words):
    """The words of a parameter without its name and default."""
    words = words[: words.index("=")] if "=" in words else words
    named = len(words) > 1 and NAME.match(words[-1]) and words[-1] not in BASIC_TYPES and words[-2] != "::"
    if named and any(word not in QUALIFIERS for word in words[:-1]):
        words = words[:-1]
    return " ".join(words)


def template_names(words):
    """The parameters of a template head, without the angle brackets."""
    names = []
    for part in split_commas(words):
        part = part[: part.index("=")] if "=" in part else part
        if NAME.match(part[-1]) and len(part) > 1:
            names.append(part[-1])
    return names


def describe(words):
    """(key, shown text) of a definition at the level of a namespace, or None. `words` ends before its body or end."""
    template = []
    while words:
        if words[0] == "template" and len(words) > 1 and words[1] == "<":
            end = skip_template(words, 1)
            template += template_names(words[2 : end - 1])
            words = words[end:]
        elif words[0] == "[[":
            words = words[words.index("]]") + 1 :]
        elif words[0] in {"inline", "static", "constexpr", "consteval", "extern", "constinit"}:
            words = words[1:]
        elif re.fullmatch(r"[A-Z][A-Z0-9_]+", words[0]) and len(words) > 1 and words[1] == "(":
            words = words[match_close([(word,) for word in words], 1) :]  # a macro that needs no semicolon
        else:
            break
    if not words:
        return None
    if words[0] == "namespace":
        return None
    if words[0] == "using":
        # The same alias may stand twice, but not that of a template.
        return (("name", words[1]), " ".join(words)) if len(words) > 2 and words[2] == "=" else None
    if words[0] in TYPE_WORDS and "(" not in words:
        rest = [word for word in words[1:] if word != "class" and word != "struct"]
        if "<" in rest[: rest.index(":")] if ":" in rest else "<" in rest:
            return None  # a specialization
        return (("name", rest[0]), rest[0]) if rest else None
    return describe_function_or_variable(words, template)


def describe_function_or_variable(words, template):
    depth = 0
    for i, word in enumerate(words):
        if word == "operator":
            return None
        depth += {"<": 1, ">": -1}.get(word, 0)
        if depth == 0 and word in {"=", "[", ";"}:
            return variable(words[:i])
        if depth == 0 and word == "(" and i > 0 and NAME.match(words[i - 1]):
            if i > 1 and words[i - 2] == "::":
                return None  # a member, or declared elsewhere
            end = match_close([(word,) for word in words], i)
            position = {name: f"${k}" for k, name in enumerate(template)}
            types = [parameter_type(part) for part in split_commas(words[i + 1 : end - 1])]
            types = [" ".join(position.get(word, word) for word in text.split()) for text in types]
            types = [text for text in types if text != "void"]
            # Two that differ in const alone are no error, but one is called instead of the other.
            plain = [text.removeprefix("const ") for text in types]
            return ("function", words[i - 1], *plain), f"{words[i - 1]}({', '.join(types)})"
    return variable(words)


def variable(words):
    if len(words) < 2 or not NAME.match(words[-1]) or words[-2] == "::":
        return None
    return ("name", words[-1]), words[-1]


def further_variables(words):
    """The names after the first in `type a = 1, b = 2`."""
    if "=" not in words or words[0] in {"using", "template", "typedef"}:
        return []
    parts = split_commas(words)
    return [part[0] for part in parts[1:] if "=" in parts[0] and NAME.match(part[0]) and part[1:2] in ([], ["="])]


def definitions(text):
    """What a file defines at the level of namespaces."""
    code = blank(text)
    tokens = [(match[0], match.start()) for match in TOKEN.finditer(code)]
    found, scopes, head, i = [], [], [], 0

    def record(words, start):
        described = describe(words)
        if described:
            named = tuple(scope for scope in scopes if scope)
            line = code.count("\n", 0, start) + 1
            found.append(Definition((named, *described[0]), described[1], None in scopes, line))

    while i < len(tokens):
        word, start = tokens[i]
        words = [token[0] for token in head]
        if word == "}":
            if scopes:
                scopes.pop()
            head = []
        elif word == ";":
            if words and not is_declaration_only(words):
                record(words, head[0][1])
                for name in further_variables(words):
                    record(["auto", name], head[0][1])
            head = []
        elif word == "{" and words[:1] in (["namespace"], ["inline"]) and "namespace" in words[:2]:
            scopes.append(" ".join(words[words.index("namespace") + 1 :]) or None)
            head = []
        elif word == "{" and not has_value(words):
            record(words, head[0][1] if head else start)
            i = match_close(tokens, i)
            is_function = "(" in words and not set(words[:1]) & TYPE_WORDS
            while not is_function and i < len(tokens) and tokens[i][0] != ";":
                i += 1
            head = []
            i += not is_function
            continue
        elif word in CLOSING:
            end = match_close(tokens, i)
            head += tokens[i:end]
            i = end
            continue
        else:
            head.append(tokens[i])
        i += 1
    return found


def has_value(words):
    """Whether there is a `=` outside of brackets: not that of a default argument."""
    depth = 0
    for word in words:
        depth += {"(": 1, "[": 1, "{": 1, "<": 1, ")": -1, "]": -1, "}": -1, ">": -1}.get(word, 0)
        if word == "=" and depth == 0:
            return True
    return False


def is_declaration_only(words):
    """Without a body or value: a declared function, a type that is named only, a using-declaration."""
    if has_value(words):
        return False
    return "(" in words or words[0] in TYPE_WORDS | {"using", "extern", "friend", "static_assert", "template"}


def is_alone(path, alone):
    return path in alone or path.name.endswith("_simd.cpp") or path.name == "isa.cpp"


def clashes(files, alone=frozenset()):
    """Lines about names that two files of a folder define. `files`: their text by path from src."""
    users = defaultdict(dict)
    for path, text in sorted(files.items()):
        if not is_alone(path, alone):
            for definition in definitions(text):
                users[(path.parts[0], definition.key)].setdefault(path, definition)
    lines = []
    for by_file in users.values():
        shown = {definition.shown for definition in by_file.values()}
        is_one_alias = len(shown) == 1 and min(shown).startswith("using ")
        if len(by_file) > 1 and any(d.private for d in by_file.values()) and not is_one_alias:
            places = [f"src/{path}:{definition.line}" for path, definition in by_file.items()]
            name = next(iter(by_file.values())).shown
            lines.append(f"{places[0]}: '{name}' is also defined in {', '.join(places[1:])}; give one a telling name")
    return sorted(lines)


def main():
    lines = (ROOT / "src" / "compiled_alone.txt").read_text().splitlines()
    alone = {Path(line) for line in lines if line and not line.startswith("#")}
    files = {path.relative_to(ROOT / "src"): path.read_text() for path in (ROOT / "src").rglob("*.cpp")}
    problems = clashes(files, alone)
    problems += [f"src/compiled_alone.txt: there is no '{path}'" for path in sorted(alone - set(files))]
    print("\n".join(problems) if problems else f"private names: {len(files)} files, no clash, {len(alone)} compiled alone")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
