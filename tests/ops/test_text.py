"""Strings: joining, splitting, case, patterns, n-grams."""

import numpy as np
import pytest
from movement_models import check, check_error, check_same, ints, run


def words(*texts):
    return np.array(texts, object)


def test_string_concat():
    a, b = words("a", "é"), words("x", "")
    check(run("StringConcat", [a, b], 20), words("ax", "é"))
    check(run("StringConcat", [a[:, None], b], 20), np.array([["ax", "a"], ["éx", "é"]], object))
    check(run("StringConcat", [a[:0], b[:1]], 20), words())
    check_error("broadcast", "StringConcat", [a, words("1", "2", "3")], 20)


def test_string_split():
    texts = words("a bb  ccc", "", "  x ", "é\u00a0ü")
    parts, counts = run("StringSplit", [texts], 20, outputs=2)
    assert counts.tolist() == [3, 0, 1, 2]
    assert parts.tolist() == [["a", "bb", "ccc"], ["", "", ""], ["x", "", ""], ["é", "ü", ""]]
    for limit in (0, 1, 5, -1):
        parts, counts = run("StringSplit", [texts], 20, outputs=2, maxsplit=limit)
        for row, count, text in zip(parts, counts, texts, strict=True):
            assert row[:count].tolist() == text.split(None, limit)
        parts, counts = run("StringSplit", [words("a--b--", "--")], 20, outputs=2, delimiter="--", maxsplit=limit)
        assert [r[:n].tolist() for r, n in zip(parts, counts, strict=True)] == [t.split("--", limit) for t in ("a--b--", "--")]
    parts, counts = run("StringSplit", [np.empty((2, 0), object)], 20, outputs=2)
    assert parts.shape == (2, 0, 0) and counts.shape == (2, 0)


def test_case_follows_unicode():
    texts = ["Straße", "ÀÉÎ", "ΑΒΓ", "ПрИвЕт", "ǅ", "ﬀ", "İ", "漢字", "ꭰ", "𐐀𐐨", "ⅷ", "ÿŸ"]
    for action, expected in (("LOWER", str.lower), ("UPPER", str.upper)):
        check(run("StringNormalizer", [words(*texts)], 10, case_change_action=action), words(*map(expected, texts)))


def test_stopwords():
    texts = words("Monday", "tuesday", "MONDAY", "x")
    settings = {"stopwords": ["monday"]}
    check(run("StringNormalizer", [texts], 10, **settings), words("tuesday", "x"))
    check(run("StringNormalizer", [texts], 10, is_case_sensitive=1, **settings), texts)
    check(run("StringNormalizer", [texts[None, :1]], 10, case_change_action="UPPER", locale="en_US", **settings), words("")[None])
    check(run("StringNormalizer", [words("monday", "Été")], 10, case_change_action="UPPER", **settings), words("ÉTÉ"))
    check_error("case_change_action", "StringNormalizer", [texts], 10, case_change_action="TITLE")
    check_error("must be", "StringNormalizer", [texts.reshape(2, 2)], 10)


PATTERNS = [  # pattern, texts that match, texts that do not
    (r"a*b+c?", ["b", "aab", "abbc"], ["c", "", "abcc"]),
    (r"(ab|cd)*e", ["e", "abcde"], ["abab", "acde"]),
    (r"[a-c\d_]+", ["abc1_"], ["d", "", "a-b"]),
    (r"[^a-c]+", ["xyz", "x\ny"], ["a", ""]),
    (r"\w+@\w+\.(com|org)", ["me@site.com"], ["me@site.net", "@x.com", "mé@x.com"]),
    (r"(?i)straße|ÉTÉ", ["STRAßE", "été", "Été"], ["strasse"]),
    (r"(?i)[a-f]+", ["AbF"], ["g"]),
    (r"(?i)[^a-f]", ["g", "G"], ["A", "a"]),
    (r"(?i:A)b", ["ab", "Ab"], ["aB"]),
    (r"a{2,3}|b{2}|c{1,}", ["aa", "aaa", "bb", "cccc"], ["a", "aaaa", "b", ""]),
    (r"x{,2}", ["x{,2}"], ["xx"]),
    (r"\x41\x{e9}\101\0", ["AéA\0"], ["AéA"]),
    (r".", ["a", "é", "漢"], ["\n", "ab", ""]),
    (r"(?s).", ["\n"], []),
    (r"\bfoo\b.*\Bx", ["foo barx"], ["foobar x", "foo x"]),
    (r"(?m)a$\n^b", ["a\nb"], ["ab"]),
    (r"^a$", ["a"], ["a\n"]),
    (r"\Aa\z", ["a"], ["a\n"]),
    (r"(?:a|b)(?P<n>c)(?<m>)", ["ac", "bc"], ["c"]),
    (r"[]a-]+", ["]-a"], ["b"]),
    (r"[[:alpha:]]+[[:^digit:]]", ["abc"], ["ab1", "a"]),
    (r"\Qa.b\E+", ["a.bbb", "a.b"], ["axb", "a.ba.b"]),
    (r"(a*)*", ["aaa", ""], ["b"]),
    (r"(?U)a+?b*", ["aab"], ["b"]),
    (r"\S+\s\D\W", ["ab c!"], ["ab 1!"]),
    (r"a|", ["a", ""], ["b"]),
    (r"(?i)a(?-i)b", ["Ab"], ["AB"]),
]


@pytest.mark.parametrize(("pattern", "good", "bad"), PATTERNS)
def test_patterns(pattern, good, bad):
    expected = np.array([True] * len(good) + [False] * len(bad))
    check(run("RegexFullMatch", [words(*good, *bad)], 20, pattern=pattern), expected)


def test_bytes_that_are_not_utf8_match_nothing():
    (got,) = run("RegexFullMatch", [np.array([b"\xff", b"a\xc3"], object)], 20, pattern="[^b]*")
    assert got.tolist() == [False, False]


def test_unicode_properties():
    texts = words("é", "É", "1", "٣", "!", " ", "漢")
    for pattern, expected in {
        r"\pL": "1100001", r"\p{Lu}": "0100000", r"\PL": "0011110", r"\p{Nd}": "0011000",
        r"[\pP\pZ]": "0000110", r"\p{^L}": "0011110", r"\d": "0010000", r"[^\pL]": "0011110",
    }.items():  # fmt: skip
        check(run("RegexFullMatch", [texts], 20, pattern=pattern), np.array([e == "1" for e in expected]))


@pytest.mark.parametrize(
    "pattern",
    ["(", ")", "[a", "a**", "*a", r"\1", "(?=a)", "(?<=a)b", "a{3,2}", "a{1001}", "\\", r"[b-a]", r"\xZZ", "(?P<>a)", r"\y"],
)
def test_wrong_patterns_are_refused(pattern):
    check_error("the pattern", "RegexFullMatch", [words("a")], 20, pattern=pattern)


def test_patterns_that_explode_elsewhere():
    text = words("a" * 5000)
    check(run("RegexFullMatch", [text], 20, pattern="(a|a)*b"), np.array([False]))
    check(run("RegexFullMatch", [text], 20, pattern="(a*)*(a*)*c"), np.array([False]))
    check_error("instructions", "RegexFullMatch", [words("a")], 20, pattern="((a{100}){100}){100}")
    check_error("repeats too much", "RegexFullMatch", [words("a")], 20, pattern="((((){1000}){1000}){1000}){1000}")
    check_error("nested too deep", "RegexFullMatch", [words("a")], 20, pattern="(" * 5000 + ")" * 5000)
    check_error("not a Unicode general category", "RegexFullMatch", [words("a")], 20, pattern=r"\p{Greek}")


TFIDF = {
    "min_gram_length": 1, "max_gram_length": 2, "ngram_counts": [0, 3], "ngram_indexes": [3, 0, 2, 1, 4],
    "pool_int64s": [2, 3, 5, 2, 3, 5, 6],
}  # fmt: skip


@pytest.mark.parametrize("mode", ["TF", "IDF", "TFIDF"])
@pytest.mark.parametrize("skips", [0, 1, 5])
def test_tfidf(mode, skips):
    x = np.array([[2, 3, 5, 6, 2, 3, 3], [5, 5, 6, 2, 2, 3, 9]])
    for version_settings in ({}, {"weights": [2.0, 3.0, 5.0, 7.0, 11.0]}):
        settings = {**TFIDF, **version_settings, "mode": mode, "max_skip_count": skips}
        check_same("TfIdfVectorizer", [x], 9, **settings)
        check_same("TfIdfVectorizer", [x[0].astype(np.int32)], 9, **settings)
    texts = {k: v for k, v in TFIDF.items() if k != "pool_int64s"} | {"pool_strings": [str(n) for n in TFIDF["pool_int64s"]]}
    check_same("TfIdfVectorizer", [x.astype(str).astype(object)], 9, mode=mode, max_skip_count=skips, **texts)


def test_tfidf_errors():
    x = ints(2, 3)
    good = {**TFIDF, "mode": "TF", "max_skip_count": 0}
    for text, change in [
        ("ngram_indexes has 4", {"ngram_indexes": [0, 1, 2, 3]}),
        ("has the entry -1", {"ngram_indexes": [0, 1, 2, 3, -1]}),
        ("2-grams cannot occupy", {"ngram_counts": [0, 4]}),
        ("cannot occupy elements", {"ngram_counts": [0, 99]}),
        ("max_gram_length is 3", {"max_gram_length": 3}),
        ("are not valid", {"min_gram_length": 0}),
        ("mode is 'X'", {"mode": "X"}),
        ("weights for", {"weights": [1.0]}),
        ("exactly one of pool_int64s and pool_strings", {"pool_strings": ["a"]}),
    ]:
        check_error(text, "TfIdfVectorizer", [x], 9, **{**good, **change})
