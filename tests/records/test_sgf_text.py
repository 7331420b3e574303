import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_src.records.record import RecordError, Reject
from pipeline_src.records.sgf import decode, parse_sgf

# Names whose last byte is a backslash or a bracket, by charset.
LAST_BYTE = {
    "Shift_JIS": ("\u8868", "\u5341"),  # 0x955C, 0x8F5C
    "Big5": ("\u529f", "\u8a31"),  # 0xA55C, 0xB35C
    "GBK": ("\u4e5a", "\u4e5b"),  # 0x815C, 0x815D
    "gb2312": ("\u7ae0", "\u4e5b"),  # the second one is in GBK alone
    "EUC-KR": ("\uae40", "\ucc08"),
    "EUC-JP": ("\u8868", "\u5341"),
    "ISO-2022-JP": ("\u8868", "\u5341"),
    "UTF-8": ("\u8868", "\u7edd\u827a"),
    "ISO-8859-1": ("J\xf6rg", "\xc4\xd6"),
    "windows-1251": ("\u0418\u0432\u0430\u043d", "\u043d"),
}
WIDER = {"gb2312": "gbk", "EUC-KR": "cp949"}


def one(data):
    (found,) = parse_sgf(data, name="game.sgf")
    return found


@pytest.mark.parametrize("charset", LAST_BYTE)
@pytest.mark.parametrize("place", ["EV", "PB", "PW"])
def test_nothing_after_a_name_in_a_declared_charset_is_swallowed(charset, place):
    for name in LAST_BYTE[charset]:
        texts = {"PB": "a", "PW": "b", "EV": "c"} | {place: name}
        root = "".join(f"{key}[{value}]" for key, value in texts.items())
        text = f"(;GM[1]FF[4]CA[{charset}]SZ[19]{root}KM[6.5]RE[W+R];B[qd]C[{name}];W[dd];B[pq])"
        record = one(text.encode(WIDER.get(charset, charset))).record
        assert (record.variant, record.winner, record.resigned, len(record.actions)) == ("komi-6.5", "second", True, 3)
        assert {"PB": record.first_name, "PW": record.second_name, "EV": record.event} == texts


@given(st.sampled_from(sorted(LAST_BYTE)), st.text(st.characters(exclude_categories=["C", "Z"]), max_size=6))
def test_record_in_declared_charset_is_kept_or_rejected(charset, name):
    escaped = name.replace("\\", "\\\\").replace("]", "\\]").replace(":", "\\:")
    text = f"(;GM[1]CA[{charset}]SZ[19]PB[{escaped}]KM[6.5]RE[W+];B[qd];W[dd])"
    try:
        data = text.encode(WIDER.get(charset, charset))
    except ValueError:
        return
    found = one(data)
    if isinstance(found, Reject):
        assert found.reason == "ambiguous"
        return
    record = found.record
    assert (record.variant, record.winner, len(record.actions)) == ("komi-6.5", "second", 2)
    assert record.first_name == name or charset in ("Shift_JIS", "EUC-KR", "EUC-JP", "ISO-2022-JP")


@pytest.mark.parametrize("name", ["\u7edd\u827a", "\u5b89 \xe9", "\u0418\u0432\u0430\u043d", "\U0001f600"])
def test_utf8_needs_no_charset(name):
    for mark in ("", "\ufeff"):
        record = one(f"{mark}(;GM[1]SZ[19]PB[{name}];B[qd])".encode()).record
        assert record.first_name == name


@pytest.mark.parametrize(
    "name", ["J\xf6rg", "Andr\xe9", "\xc9ric", "\xd3 Briain", "Bj\xf8rn \xc5se", "caf\xe9, 6\xbd points", "\xa9 ann"]
)
def test_undeclared_latin_1_is_read_where_unambiguous(name):
    assert one(f"(;GM[1]SZ[19]PB[{name}];B[qd])".encode("latin-1")).record.first_name == name


def test_iso_2022_jp_escapes_and_byte_order_marks_give_charset():
    text = "(;GM[1]SZ[19]PB[\u8868\u5341]RE[B+R];B[qd])"
    for charset in ("iso2022_jp", "utf-16", "utf-8-sig"):
        record = one(text.encode(charset)).record
        assert (record.first_name, record.winner) == ("\u8868\u5341", "first")
    declared = text.replace("SZ", "CA[GBK]SZ")
    assert one(declared.encode("utf-8-sig")).record.first_name == "\u8868\u5341"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("(;GM[1]SZ[19]PB[\u674e\u4e16\u4e6d];B[qd])".encode("gbk"), "no charset"),
        ("(;GM[1]SZ[19]PB[\u674e];B[qd])".encode("gbk"), "no charset"),
        ("(;GM[1]SZ[19]PB[\u4e5b];B[qd];W[dd])".encode("gbk"), "no charset"),
        ("(;GM[1]SZ[19]EV[\u4e94\u5341]RE[W+R];B[qd])".encode("shift_jis"), "no charset"),
        ("(;GM[1]SZ[19]EV[\u6210\u529f]RE[W+R];B[qd])".encode("big5"), "no charset"),
        (b"(;GM[1]SZ[19]PB[\xc1J];B[qd])", "no charset"),
        ("(;GM[1]SZ[19]PB[\u0418\u0432\u0430\u043d];B[qd])".encode("cp1251"), "no charset"),
        ("(;GM[1]CA[GBK]SZ[19]PB[\u7edd\u827a];B[qd])".encode(), "gb18030, but is also valid UTF-8"),
        ("(;GM[1]CA[GBK]SZ[19]PB[\u5bb9]PW[b];B[qd])".encode(), "gb18030, but is also valid UTF-8"),
        ("(;GM[1]CA[ISO-8859-1]SZ[19]PB[\xe9];B[qd])".encode(), "cp1252, but is also valid UTF-8"),
        ("(;CA[GBK]PB[\u674e];B[qd])".encode("gbk") + "(;CA[Big5]PB[\u674e];B[qd])".encode("big5"), "several charsets"),
    ],
)
def test_text_with_two_readings_is_ambiguous(data, words):
    found = one(data)
    assert found.reason == "ambiguous"
    assert words in found.detail


def test_declared_charset_contradicted_by_bytes_gives_way_to_utf8():
    name = "\U0001f600"
    assert one(f"(;GM[1]CA[EUC-JP]SZ[19]PB[{name}];B[qd])".encode()).record.first_name == name
    assert one(f"(;GM[1]CA[]SZ[19]PB[{name}];B[qd])".encode()).record.first_name == name


def test_a_text_that_mentions_a_charset_declares_none():
    record = one("(;GM[1]SZ[19]PB[\u674e]C[use CA[GBK\\] here;CA[Big5\\]];B[qd])".encode()).record
    assert record.first_name == "\u674e"
    assert decode(b"(;CA[UTF-8]C[ CA[GBK\\]\xc3\xa9])").endswith("\xe9])")


def test_charset_incompatible_with_ascii_is_ignored():
    for name in ("UTF-16", "UTF-32", "cp500", "hex", "rot13", "idna", "shift_jis_2004", "no\nsuch"):
        with pytest.raises(RecordError, match="bad_text: no such charset"):
            decode(f"(;GM[1]CA[{name}]SZ[19];B[qd])".encode())
