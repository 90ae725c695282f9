#!/usr/bin/env python3
"""Writes python_regex.json: what Python's `re.search` says about pairs of pattern and text.

Run it with Python 3.11 in this folder; the test in src/python_regex/tests.rs reads the result.
"""
import json
import re
import sys
import warnings

warnings.simplefilter("ignore")

# A pattern with the texts that it is tried on.
TABLE = [
    # Anchors and ends of text.
    (r"^## Title$", ["## Title\n", "## Title", "## Title\n\n", "x\n## Title\n"]),
    (r"(?m)^## Title$", ["x\n## Title\ny", "## Title", "x## Title"]),
    (r"end\Z", ["end", "end\n"]),
    (r"end$", ["end", "end\n", "end\n\n", "end\r\n"]),
    (r"\Astart", ["start", "\nstart"]),
    (r"(?m)\Astart", ["x\nstart"]),
    (r"(?m)^", ["a\n"]),
    (r"(?m)b$", ["ab\ncb"]),
    (r"$", ["a\n", "", "\n"]),
    (r"(?m)$", ["a\nb"]),
    (r"a$b", ["a\nb"]),
    (r"(?:^|,)x", ["x", ",x", "y,x"]),
    (r"(?:$)", ["ab\n"]),
    # Named groups, references, conditionals.
    (r"(?P<year>\d{4})-(?P<month>\d\d)", ["on 2026-11-16", "20-11"]),
    (r"(?P<quote>['\"]).*?(?P=quote)", ["say 'it \"is\"' now", "\"a'"]),
    (r"(a)(b)?\2", ["ab", "abb"]),
    (r"(\w+) \1", ["the the", "the then", "a b"]),
    (r"(?i)(\w+) \1", ["The the", "STRASSE strasse"]),
    (r"(<)?a(?(1)>|!)", ["<a>", "a!", "<a!", "a>"]),
    (r"(?P<open>\()?x(?(open)\))", ["(x)", "x", "(x"]),
    (r"(a)|b(?(1)c|d)", ["bd", "bc", "a"]),
    (r"(a)\1{2}", ["aaa", "aa"]),
    (r"(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)\10", ["abcdefghijj"]),
    (r"(a)\100", ["a@"]),
    (r"(?:(a)|b)*", ["ab", "ba"]),
    (r"(?:(a)|(b))+", ["abab"]),
    (r"()\1x", ["x"]),
    # Look-around.
    (r"foo(?=bar)", ["foobar", "foobaz"]),
    (r"foo(?!bar)", ["foobar", "foobaz"]),
    (r"(?<=\$)\d+", ["cost $42", "cost 42"]),
    (r"(?<!un)happy", ["unhappy", "so happy", "unhappy happy"]),
    (r"(?<=a|b)c", ["ac", "cc"]),
    (r"(?<=ab|cd)e", ["cde", "de"]),
    (r"(?<=(a))b", ["ab"]),
    (r"(?<=^)a", ["a", "ba"]),
    (r"(?<=é)x", ["éx", "ex"]),
    (r"(?=(\w+))\1:", ["key: value", "key value"]),
    (r"(?!.*TODO)^.*$", ["fine", "a TODO"]),
    (r"^(?=.*\d)(?=.*[a-z]).{4,}$", ["abc1", "abcd", "a1"]),
    (r"(?<!\\)\"", ["\\\"", "a\""]),
    (r"(?<=a{2})b", ["aab", "ab"]),
    (r"(?=a)*b", ["b", "ab"]),
    (r"(?:(?=a))?a", ["a"]),
    (r"(?!)", ["a"]),
    (r"(?=)", ["a"]),
    # Flags.
    (r"(?i)hello", ["HeLLo", "help"]),
    (r"(?i:h)ello", ["Hello", "HELLO"]),
    (r"(?i)a(?-i:b)", ["AB", "Ab"]),
    (r"(?s)a.b", ["a\nb"]),
    (r"a.b", ["a\nb", "a\rb", "a\u2028b"]),
    (r"(?s:a.)b.", ["a\nb\n", "a\nbx"]),
    (r"(?si)A.B", ["a\nb"]),
    (r"(?ms)^a.*b$", ["x\na\nb\ny"]),
    ("(?x) a b  # comment\n c", ["abc", "a b c"]),
    (r"(?x) a\ b [ ] c \# d", ["a b c#d", "a b c # d"]),
    ("(?x: a b ) c", ["ab c", "a b c"]),
    ("(?x)a (?-x: b)", ["a b", "ab"]),
    ("(?x)a # (\n*", ["aaa", ""]),
    (r"(?a)\w+", ["é", "ée"]),
    (r"(?a:\w)\w", ["aé", "éa"]),
    (r"(?a)\d\s\b", ["٣", "3 x", "3\u00a0x"]),
    (r"(?a)(?i)k", ["\u212a", "K"]),
    (r"(?i)k", ["\u212a", "K"]),
    (r"(?i)s", ["\u017f"]),
    (r"(?i)i", ["\u0130", "\u0131", "I"]),
    (r"(?i)\u0130", ["i", "I"]),
    (r"(?i)[a-k]", ["\u0131", "J", "Z"]),
    (r"(?i)ß", ["\u1e9e", "SS"]),
    (r"(?i)straße", ["STRAẞE"]),
    (r"(?i)σ", ["ς", "Σ"]),
    (r"(?ai)[x-z]", ["Y", "W"]),
    (r"(?ai)é", ["É", "é"]),
    (r"(?i)[^a]", ["A", "b"]),
    (r"(?i)µ", ["\u03bc"]),
    (r"(?u)é", ["é"]),
    # Categories.
    (r"\d+", ["٣٤", "²", "12"]),
    (r"\w+", ["naïve_1", "e\u0301x", "²", "\u203f", "Ⅷ", "日本"]),
    (r"\W", ["\u0301", "a"]),
    (r"\s", ["\x1c", "\u00a0", "\u200b", "\x85", "\u3000"]),
    (r"\S+", ["\x1fa\x1e"]),
    (r"\D\W\S", ["a-b"]),
    (r"\bcafe\b", ["cafe", "cafe\u0301", "cafés"]),
    (r"\bé", ["é", "aé", "\u0301é"]),
    (r"\Bb\B", ["abc", "b", "ab"]),
    (r"\B", ["", "a", "aa", " "]),
    (r"\b", ["", " ", " a"]),
    (r"\bTODO\b", ["// TODO: x", "TODOS", "日TODO", "— TODO —"]),
    (r"[\b]", ["\x08", "b"]),
    # Classes.
    (r"[]a]+", ["]a]"]),
    (r"[^]a]", ["]ab"]),
    (r"[[a]", ["[", "a"]),
    (r"[[:alpha:]]", ["a", "a]", ":]"]),
    (r"[a&&b]+", ["a&b"]),
    (r"[a~~b]+", ["~"]),
    (r"[a--b]", ["a", "-"]),
    (r"[a-]", ["-"]),
    (r"[-a]", ["-"]),
    (r"[\w-]+", ["kebab-case"]),
    (r"[^\W\d_]+", ["_1ab2"]),
    (r"[\d\-x]+", ["1-x"]),
    (r"[\x41-\x43\u00e9\t]+", ["ABCé\t"]),
    (r"[\101\0]", ["A", "\0"]),
    (r"[.^$*+?{}()|]+", ["{}()|.^$*+?"]),
    (r"[\]\\]+", ["\\]"]),
    (r"[#-&]", ["$"]),
    (r"[^\n]+", ["a\nb"]),
    (r"[\s\S]+", ["a\nb"]),
    (r"[é-ü]", ["ï"]),
    # Escapes.
    (r"\<b\>", ["<b>", "b"]),
    (r"\x41\u0042\U00000043", ["ABC"]),
    (r"\0", ["\0"]),
    (r"\012", ["\n"]),
    (r"\07", ["\x07"]),
    (r"\a\f\v\r\t", ["\x07\x0c\x0b\r\t"]),
    (r"\-\/\"\'\ \_\@\%", ["-/\"' _@%"]),
    (r"\é", ["é"]),
    (r"\.\*", [".*", "ab"]),
    # Repetition.
    (r"a{,2}b", ["aaab", "b"]),
    (r"a{2,}", ["a", "aaa"]),
    (r"a{2}", ["aaa"]),
    (r"a{,}", ["aaa"]),
    (r"x{a}", ["x{a}"]),
    (r"x{}", ["x{}"]),
    (r"x{1", ["x{1"]),
    (r"x{1,2", ["x{1,2"]),
    (r"x{ 1}", ["x{ 1}"]),
    (r"{a}", ["{a}"]),
    (r"a*?b", ["aab"]),
    (r"<.+?>", ["<a><b>"]),
    (r"a??b", ["ab"]),
    (r"a{1,3}?", ["aaa"]),
    (r"a*+a", ["aaa"]),
    (r"a++b", ["aab"]),
    (r"a?+a", ["a", "aa"]),
    (r"a{1,2}+a", ["aa", "aaa"]),
    (r"(?>a+)b", ["aab"]),
    (r"(?>a|ab)c", ["abc"]),
    (r"(?:)*", ["a"]),
    (r"(?:)*a", ["ba"]),
    (r"()*", ["a"]),
    (r"(?:^)*a", ["a", "ba"]),
    (r"(?:\b)+a", ["a"]),
    (r"(?:a|b)*c", ["abac"]),
    (r"(?:a*)*b", ["aab", "aa"]),
    (r"a{0}b", ["ab"]),
    (r"(a){0}b\1?", ["b"]),
    (r"(ab){2}", ["abab", "ab"]),
    (r"(?:ab)+?c", ["ababc"]),
    # Alternation and emptiness.
    (r"a|ab", ["ab"]),
    (r"ab|a", ["ab"]),
    (r"", ["abc"]),
    (r"|a", ["a"]),
    (r"a|", ["b"]),
    (r"(|a)b", ["ab"]),
    (r"(?#a comment)b", ["b"]),
    # As suites write them.
    (r"def test_\w+\(", ["def test_login(self):", "def login("]),
    (r"import\s+\{[^}]*\bcreateFixture\b[^}]*\}\s+from", ["import {\n  a, createFixture\n} from 'x'"]),
    (r"(?m)^\s*-\s\[[ x]\]\s.+$", ["# Tasks\n- [ ] one\n- [x] two\n", "no tasks"]),
    (r"(?im)^#{1,3}\s+summary\s*$", ["# Report\n## Summary\ntext", "summary"]),
    (r"\b(?:\d{1,3}\.){3}\d{1,3}\b", ["at 127.0.0.1:80", "1.2.3"]),
    (r"^\s*(?:export\s+)?class\s+(?P<name>[A-Z]\w*)", ["export class Booking {", "class booking"]),
    (r"vi\.fn\(\)", ["vi.fn()", "viXfn()"]),
    (r"https?://[^\s)\"']+", ["see (https://example.org/a?b=c)."]),
    (r"(?s)BEGIN.*?END", ["BEGIN\na\nEND\nEND"]),
    (r"^(?!.*console\.log).*$", ["const a = 1", "console.log(1)"]),
    (r"\"version\":\s*\"(\d+)\.(\d+)\.(\d+)\"", ["{\"version\": \"1.20.3\"}"]),
    (r"😀+", ["a😀😀b"]),
    (r".", ["😀"]),
    (r"(?<=😀).", ["😀x"]),
    # What Python refuses.
    (r"(", [""]),
    (r")", [""]),
    (r"a)", [""]),
    (r"[", [""]),
    (r"[]", [""]),
    (r"[b-a]", [""]),
    (r"[\d-z]", [""]),
    (r"*a", [""]),
    (r"^*", [""]),
    (r"\b+", [""]),
    (r"a**", [""]),
    (r"a{2}{3}", [""]),
    (r"a*?+", [""]),
    (r"a{3,2}", [""]),
    (r"(?<=a+)b", [""]),
    (r"(?<=a|bc)d", [""]),
    (r"(?<=a{1,2})d", [""]),
    (r"(?<n>a)", [""]),
    (r"(?P<1a>x)", [""]),
    (r"(?P<a>x)(?P<a>y)", [""]),
    (r"(?P=a)", [""]),
    (r"(?P>a)", [""]),
    (r"(?P<a", [""]),
    (r"(a\1)", [""]),
    (r"\1", [""]),
    (r"(a)\2", [""]),
    (r"(?<=(a)\1)b", [""]),
    (r"a(?i)b", [""]),
    (r"(?z)", [""]),
    (r"(?L)a", [""]),
    (r"(?au)a", [""]),
    (r"(?a)(?u)a", [""]),
    (r"(?i-i:a)", [""]),
    (r"(?-u:a)", [""]),
    (r"(?i", [""]),
    (r"(?i-", [""]),
    (r"(?i-:a)", [""]),
    (r"(?'n'a)", [""]),
    (r"(?R)", [""]),
    (r"(?|a|b)", [""]),
    (r"(?(1)a|b)", [""]),
    (r"(?(0)a|b)", [""]),
    (r"(?(x)a)", [""]),
    (r"(a)(?(1)a|b|c)", [""]),
    (r"(?#a", [""]),
    (r"\z", [""]),
    (r"\p{L}", [""]),
    (r"\h", [""]),
    (r"\K", [""]),
    (r"\G", [""]),
    (r"\Q", [""]),
    (r"\8", [""]),
    (r"\400", [""]),
    (r"[\400]", [""]),
    (r"[\8]", [""]),
    (r"\x4", [""]),
    (r"\u12", [""]),
    (r"\U00110000", [""]),
    ("a\\", [""]),
]

# Python accepts these, and skillgauge refuses them before a run.
REFUSED = [(r"\N{EM DASH}", "—"), (r"\ud83d", "x"), (r"((?(1)a|b))", "b")]


def answer(pattern, text):
    row = {"pattern": pattern, "text": text}
    try:
        compiled = re.compile(pattern)
        found = compiled.search(text)
    except (re.error, OverflowError, ValueError) as error:
        row["error"] = str(error)
        return row
    if compiled.groupindex:
        row["names"] = dict(compiled.groupindex)
    if found:
        spans = [found.span(number) for number in range(compiled.groups + 1)]
        row["spans"] = [None if span == (-1, -1) else span for span in spans]
    return row


def main():
    rows = [answer(pattern, text) for pattern, texts in TABLE for text in texts]
    rows += [answer(pattern, text) | {"refused": True} for pattern, text in REFUSED]
    version = ".".join(str(number) for number in sys.version_info[:2])
    lines = ",\n".join("    " + json.dumps(row) for row in rows)
    with open("python_regex.json", "w", encoding="utf-8") as file:
        file.write('{\n  "python": "%s",\n  "rows": [\n%s\n  ]\n}\n' % (version, lines))
    print(len(rows), "rows")


if __name__ == "__main__":
    main()
