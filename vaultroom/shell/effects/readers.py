"""Programs that read files and print them, whole or in part: cat, grep, diff, sort, base64 and their kin.

`rg`, `ag` and `ack` leave hidden and ignored files out; below a folder they count as reading everything
only where an option says so. sed and awk have files of their own, since their scripts can write.
"""

from __future__ import annotations

from vaultroom.shell.effects.declared import Program, analysers, program
from vaultroom.shell.effects.touch import Analyse

_SUMS = (
    "md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum md5 shasum gmd5sum gsha1sum"
    " gsha256sum"
)
_GREP = {
    "short": {"e": "regexp", "f": "file", "r": "recursive", "R": "dereference-recursive", "d": "directories"},
    "short_values": "efmABCdD",
    "flags": (
        "extended-regexp fixed-strings basic-regexp perl-regexp ignore-case no-ignore-case word-regexp"
        " line-regexp null-data no-messages invert-match version help byte-offset line-number line-buffered"
        " with-filename no-filename only-matching quiet silent text recursive dereference-recursive"
        " files-without-match files-with-matches count initial-tab null color colour binary"
    ),
    "other_values": (
        "regexp max-count label binary-files directories devices include exclude exclude-dir"
        " before-context after-context context group-separator"
    ),
}

_TABLE: dict[str, Program] = {
    "cat tac nl rev gcat gtac": program("r"),
    "bat batcat": program(
        "r",
        short_values="lmrH",
        other_values=(
            "language map-syntax line-range highlight-line theme style file-name wrap tabs color paging"
            " decorations terminal-width italic-text diff-context"
        ),
        values={"pager": "!"},
    ),
    "head tail ghead gtail": program(
        "r",
        short_values="cns",
        flags="quiet silent verbose zero-terminated follow retry version help",
        other_values="bytes lines sleep-interval pid max-unchanged-stats",
    ),
    "less more most pg": program(
        "r",
        short_values="bhjkoOpPtTxyzD",
        short={"o": "log-file", "O": "log-file", "k": "lesskey-file", "T": "tag-file"},
        other_values="pattern prompt tabs window",
        values={"log-file": "w", "LOG-FILE": "w", "lesskey-file": "r", "tag-file": "r"},
    ),
    "wc gwc": program(
        "r", flags="bytes chars lines max-line-length words help version", values={"files0-from": "r!"}
    ),
    "od god": program(
        "r",
        short_values="AjNtS",
        attached="w",
        flags="traditional output-duplicates",
        other_values="address-radix skip-bytes read-bytes strings format endian",
    ),
    "hexdump hd": program("r", short={"f": "format-file"}, short_values="efns", values={"format-file": "r"}),
    "strings gstrings": program(
        "r",
        short_values="nteTUs",
        flags="all print-file-name include-all-whitespace version help",
        other_values="bytes radix encoding target unicode output-separator",
    ),
    "xxd": program(
        "r",
        last="w",
        short_values="cglosRn",
        flags="ps plain postscript autoskip bits include uppercase revert",
        other_values="cols groupsize len seek",
        one_dash=True,
    ),
    "base64 base32 basenc gbase64": program(
        "r",
        short={"i": "ignore-garbage", "o": "output"},
        short_values="wbo",
        flags="decode ignore-garbage help version",
        other_values="wrap break",
        values={"input": "r", "output": "w"},
    ),
    "uuencode": program("r"),
    "uudecode": program("r!", short={"o": "output-file"}, short_values="o", values={"output-file": "w"}),
    _SUMS: program("r", short_values="al", flags="check binary tag text", other_values="algorithm length"),
    "file gfile": program(
        "r",
        short={"f": "files-from", "m": "magic-file"},
        short_values="fmeFP",
        other_values="exclude separator parameter exclude-quiet",
        values={"files-from": "r!", "magic-file": "r"},
    ),
    "cmp gcmp": program("r", short_values="in", other_values="ignore-initial bytes"),
    "comm": program("r", other_values="output-delimiter"),
    "join": program("r", short_values="aejt12ov"),
    "look": program("r", skip=1, short_values="t"),
    "paste": program("r", short_values="d", other_values="delimiters"),
    "cut gcut": program(
        "r", short_values="bcdf", other_values="bytes characters delimiter fields output-delimiter"
    ),
    "fold fmt": program("r", short_values="w", other_values="width"),
    "expand unexpand": program("r", short_values="t", other_values="tabs"),
    "column": program("r", short_values="cso", other_values="separator output-separator output-width"),
    "pr": program("r", short_values="hlowWN", other_values="header length width page-width"),
    "tsort ptx colrm": program("r"),
    "iconv": program(
        "r",
        short={"o": "output"},
        short_values="fto",
        other_values="from-code to-code",
        values={"output": "w"},
    ),
    "uniq guniq": program(
        "r", last="w", short_values="fsw", other_values="skip-fields skip-chars check-chars group"
    ),
    "sort gsort": program(
        "r",
        short={"o": "output", "T": "temporary-directory"},
        short_values="kotST",
        flags=(
            "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort ignore-nonprinting"
            " month-sort human-numeric-sort numeric-sort random-sort reverse version-sort check debug merge"
            " stable unique zero-terminated help version"
        ),
        other_values="sort batch-size key buffer-size field-separator parallel",
        values={
            "output": "w",
            "temporary-directory": "W",
            "random-source": "r",
            "files0-from": "r!",
            "compress-program": "!",
        },
    ),
    "grep egrep fgrep zgrep zegrep zfgrep bzgrep xzgrep ggrep": program(
        "r",
        skip=1,
        instead="regexp file",
        values={"file": "r", "exclude-from": "r"},
        recursive="recursive dereference-recursive",
        here=True,
        **_GREP,  # type: ignore[arg-type]
    ),
    "rgrep": program(
        "R",
        skip=1,
        instead="regexp file",
        values={"file": "r", "exclude-from": "r"},
        **_GREP,  # type: ignore[arg-type]
    ),
    "zcat gzcat": program("r", short_values="S", other_values="suffix"),
    "bzcat xzcat zstdcat lzcat zless zmore bzless xzless": program("r"),
    "jq gojq": program(
        "r",
        skip=1,
        short={"f": "from-file"},
        instead="from-file",
        short_values="L",
        other_values="arg argjson indent",
    ),
    "yq": program("r", skip=1, instead="from-file", values={"from-file": "r"}),
    "source .": program("r"),
    "nm objdump readelf ldd size": program("r"),
    "pdftotext": program("r", last="w", short_values="flrxyWHe"),
    "diffstat": program("r"),
    "diff3": program("r", short_values="L", other_values="label", values={"diff-program": "!"}),
    "sdiff": program(
        "r", short={"o": "output"}, short_values="oIw", values={"output": "w", "diff-program": "!"}
    ),
    "zdiff zcmp bzdiff xzdiff": program("r"),
    "dot2tex glow mdcat": program("r"),
}

_DIFF = program(
    "r",
    short={"r": "recursive", "X": "exclude-from", "N": "new-file", "S": "starting-file"},
    short_values="CUWxXSIDFL",
    flags=(
        "normal brief report-identical-files context unified ed rcs side-by-side left-column"
        " suppress-common-lines show-c-function expand-tabs initial-tab suppress-blank-empty paginate"
        " recursive no-dereference new-file unidirectional-new-file ignore-file-name-case"
        " no-ignore-file-name-case ignore-case ignore-tab-expansion ignore-trailing-space"
        " ignore-space-change ignore-all-space ignore-blank-lines strip-trailing-cr text minimal"
        " speed-large-files color help version"
    ),
    other_values=(
        "show-function-line label width tabsize exclude starting-file ignore-matching-lines ifdef"
        " line-format old-line-format new-line-format unchanged-line-format horizon-lines palette"
        " group-format changed-group-format"
    ),
    values={"exclude-from": "r", "from-file": "R", "to-file": "R"},
    recursive="recursive",
)

_RIPGREP = program(
    "r",
    short={"e": "regexp", "f": "file", ".": "hidden", "u": "unrestricted", "L": "follow"},
    short_values="efgtTABCmMjErd",
    flags="files hidden no-hidden no-ignore unrestricted follow type-list version help search-zip",
    other_values=(
        "regexp glob iglob type type-not after-context before-context context max-count max-columns threads"
        " encoding replace max-depth max-filesize sort sortr color colors type-add type-clear engine"
        " field-match-separator field-context-separator context-separator path-separator dfa-size-limit"
        " regex-size-limit pre-glob hyperlink-format depth ignore generate hostname-bin"
    ),
    values={"file": "r", "ignore-file": "r", "pre": "!", "hostname-bin": "!", "path-to-ignore": "r"},
    skip=1,
    instead="regexp file files type-list",
    recursive="hidden no-ignore unrestricted",
    here=True,
)


PROGRAMS: dict[str, Analyse] = analysers(
    _TABLE | {"diff gdiff colordiff": _DIFF, "rg ag ack ripgrep": _RIPGREP}
)
