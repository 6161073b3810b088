"""curl and wget: the hosts they talk to, the files they send and the files they write."""

from __future__ import annotations

from collections.abc import Sequence

from vaultroom.shell.effects.declared import analysers, program
from vaultroom.shell.effects.found import STANDARD_STREAM, Found
from vaultroom.shell.effects.hosts import endpoint, is_url, split_url
from vaultroom.shell.effects.options import OPERAND, Parsed, Syntax, parse
from vaultroom.shell.effects.touch import Analyse, Effects, Places, inside
from vaultroom.shell.words import words

_CURL = Syntax(
    short={
        "o": "output", "O": "remote-name", "J": "remote-header-name", "T": "upload-file", "d": "data",
        "F": "form", "H": "header", "b": "cookie", "c": "cookie-jar", "D": "dump-header", "K": "config",
        "E": "cert", "x": "proxy", "w": "write-out", "z": "time-cond", "g": "globoff", "n": "netrc",
        "G": "get", "I": "head", "L": "location", "P": "ftp-port", "e": "referer", "u": "user", "Q": "quote",
    },
    short_values="EKCbcdDFPHhmoUQreXYytzTuAwx",
    flags=words(

            "anyauth append basic cert-status compressed compressed-ssh create-dirs crlf digest disable"
            " disable-eprt disable-epsv disallow-username-in-url doh-cert-status doh-insecure eprt epsv"
            " fail fail-early fail-with-body false-start form-escape ftp-create-dirs ftp-pasv ftp-pret"
            " ftp-skip-pasv-ip ftp-ssl-ccc ftp-ssl-control get globoff haproxy-protocol head http0.9"
            " http1.0 http1.1 http2 http2-prior-knowledge http3 http3-only ignore-content-length include"
            " insecure ipv4 ipv6 junk-session-cookies list-only location location-trusted"
            " mail-rcpt-allowfails manual metalink negotiate netrc netrc-optional next no-alpn no-buffer"
            " no-clobber no-keepalive no-npn no-progress-meter no-sessionid ntlm ntlm-wb parallel"
            " parallel-immediate path-as-is post301 post302 post303 progress-bar proxy-anyauth proxy-basic"
            " proxy-digest proxy-insecure proxy-negotiate proxy-ntlm proxy-ssl-allow-beast"
            " proxy-ssl-auto-client-cert proxy-tlsv1 proxytunnel raw remote-header-name remote-name"
            " remote-name-all remote-time remove-on-error retry-all-errors retry-connrefused sasl-ir"
            " show-error show-headers silent skip-existing socks5-basic socks5-gssapi socks5-gssapi-nec ssl"
            " ssl-allow-beast ssl-auto-client-cert ssl-no-revoke ssl-reqd ssl-revoke-best-effort sslv2"
            " sslv3 styled-output suppress-connect-headers tcp-fastopen tcp-nodelay tftp-no-options tlsv1"
            " tlsv1.0 tlsv1.1 tlsv1.2 tlsv1.3 tr-encoding trace-ids trace-time use-ascii verbose version"
            " xattr ca-native proxy-ca-native"
    ),
    values=words(

            "abstract-unix-socket alt-svc aws-sigv4 cacert capath cert cert-type ciphers config"
            " connect-timeout connect-to continue-at cookie cookie-jar create-file-mode crlfile curves data"
            " data-ascii data-binary data-raw data-urlencode delegation dns-interface dns-ipv4-addr"
            " dns-ipv6-addr dns-servers doh-url dump-header ech egd-file engine etag-compare etag-save"
            " expect100-timeout form form-string ftp-account ftp-alternative-to-user ftp-method ftp-port"
            " ftp-ssl-ccc-mode happy-eyeballs-timeout-ms haproxy-clientip header help hostpubmd5"
            " hostpubsha256 hsts interface ip-tos ipfs-gateway json keepalive-cnt keepalive-time key"
            " key-type krb libcurl limit-rate local-port login-options mail-auth mail-from mail-rcpt"
            " max-filesize max-redirs max-time netrc-file noproxy oauth2-bearer output output-dir"
            " parallel-max pass pinnedpubkey preproxy proto proto-default proto-redir proxy proxy-cacert"
            " proxy-capath proxy-cert proxy-cert-type proxy-ciphers proxy-crlfile proxy-header proxy-key"
            " proxy-key-type proxy-pass proxy-pinnedpubkey proxy-service-name proxy-tls13-ciphers"
            " proxy-tlsauthtype proxy-tlspassword proxy-tlsuser proxy-user proxy1.0 pubkey quote"
            " random-file range rate referer request request-target resolve retry retry-delay"
            " retry-max-time sasl-authzid service-name socks4 socks4a socks5 socks5-gssapi-service"
            " socks5-hostname speed-limit speed-time stderr telnet-option tftp-blksize time-cond tls-max"
            " tls13-ciphers tlsauthtype tlspassword tlsuser trace trace-ascii trace-config unix-socket"
            " upload-file url url-query user user-agent variable vlan-priority write-out"
    ),
)  # fmt: skip
_GLOB = frozenset("{}[]")
_READS = (
    "cacert", "capath", "crlfile", "egd-file", "key", "netrc-file", "proxy-cacert", "proxy-capath",
    "proxy-crlfile", "proxy-key", "pubkey", "random-file", "etag-compare",
)  # fmt: skip
_WRITES = ("cookie-jar", "dump-header", "etag-save", "libcurl", "stderr", "trace", "trace-ascii")
_BOTH = ("hsts", "alt-svc", "unix-socket")
_AFTER_AT = ("data", "data-ascii", "data-binary", "json", "header", "proxy-header", "write-out", "url-query")
_PROXIES = (
    "proxy", "preproxy", "proxy1.0", "socks4", "socks4a", "socks5", "socks5-hostname",
)  # fmt: skip


def _curl(argv: Sequence[str], places: Places) -> Effects:
    found = Found(places)
    parsed = parse(argv[1:], _CURL)
    urls = [value for name, value in parsed.ordered if name in (OPERAND, "url") and value]
    for url in urls:
        if url.startswith("@"):
            found.read_all([url[1:]])
            found.doubt()
        else:
            found.url(url.lstrip(), 80)
    _curl_hosts(parsed, found)
    _curl_reads(parsed, found)
    _curl_writes(parsed, urls, found)
    return found.effects()


def _curl_hosts(parsed: Parsed, found: Found) -> None:
    for option in _PROXIES:
        for value in parsed.values_of(option):
            found.url(value, 1080)
    for value in parsed.values_of("doh-url"):
        found.url(value, 443)
    for value in parsed.values_of("dns-servers"):
        for server in value.split(","):
            found.host(server, 53)
    for value in parsed.values_of("resolve"):
        port, addresses = _resolved(value)
        for address in addresses.split(",") if addresses else []:
            found.connect(endpoint(address if address.startswith("[") else _bracketed(address), port))
    for value in parsed.values_of("connect-to"):
        _, _, target = _after_colons(value, 2)
        if target.strip(":"):
            found.connect(endpoint(target.rstrip(":")))
    found.opaque |= parsed.has("ipfs-gateway")


def _resolved(value: str) -> tuple[int, str]:
    """`host:port:address,address` → the port and the addresses."""
    _, port, addresses = _after_colons(value, 2)
    return (int(port) if port.isascii() and port.isdigit() and len(port) < 6 else 0), addresses


def _after_colons(value: str, count: int) -> tuple[str, str, str]:
    """(before, the part before the last colon counted, rest); brackets are kept together."""
    host, rest = value, ""
    if value.startswith("["):
        host, _, rest = value.partition("]")
        rest = rest.removeprefix(":")
    else:
        host, _, rest = value.partition(":")
    port, _, rest = rest.partition(":") if count > 1 else ("", "", rest)
    return host, port, rest


def _bracketed(address: str) -> str:
    return f"[{address}]" if address.count(":") > 1 else address


def _curl_reads(parsed: Parsed, found: Found) -> None:
    for option in _READS:
        found.read_all(parsed.values_of(option))
    for option in _AFTER_AT:
        for value in parsed.values_of(option):
            if value.startswith("@"):
                found.read_all([value[1:]])
    for option in ("data-urlencode", "url-query", "variable"):
        for value in parsed.values_of(option):
            name, at, path = value.partition("@")
            if at and "=" not in name:
                found.read_all([path])
    for value in parsed.values_of("form"):
        _curl_form(value.partition("=")[2], found)
    for value in parsed.values_of("cookie"):
        if "=" not in value:
            found.read_all([value])
    for option in ("cert", "proxy-cert"):
        for value in parsed.values_of(option):
            found.read_all([value.partition(":")[0]])
    for value in parsed.values_of("time-cond"):
        if "/" in value or found.places.exists(value):
            found.read(value)
    for value in parsed.values_of("upload-file"):
        if value != ".":
            found.read_all([value])
        found.opaque |= not _GLOB.isdisjoint(value) and not parsed.has("globoff")
    for value in parsed.values_of("config"):
        found.read_all([value])
        found.doubt()
    if parsed.has("netrc", "netrc-optional") and not parsed.has("netrc-file"):
        found.read(found.at_home(".netrc"))


def _curl_form(content: str, found: Found) -> None:
    """`@file;type=x`, `<file`, and several files separated by commas."""
    if content.startswith(("@", "<")):
        names = content[1:].partition(";")[0]
        if '"' in content or "(" in content[:1]:
            found.doubt()
        found.read_all(name.strip('"') for name in names.split(","))
        if "," in names:
            found.read(names)
    elif content.startswith(("(", "=(")):
        found.doubt()
    for part in content.split(";")[1:]:
        if part.strip().startswith("headers=@") or part.strip().startswith("headers=<"):
            found.read_all([part.strip()[9:]])


def _curl_writes(parsed: Parsed, urls: Sequence[str], found: Found) -> None:
    folder = parsed.last("output-dir")
    for option in _WRITES:
        for name in parsed.values_of(option):
            if name not in (STANDARD_STREAM, "%"):
                found.write(name)
    for option in _BOTH:
        for name in parsed.values_of(option):
            found.read(name)
            found.write(name)
    for name in parsed.values_of("output"):
        if name != STANDARD_STREAM:
            _into(folder, name, found, create=parsed.has("create-dirs"))
            found.opaque |= "#" in name
    if parsed.has("remote-name", "remote-name-all"):
        for url in urls:
            path = split_url(url).path.partition("?")[0].partition("#")[0]
            _into(folder, path.rpartition("/")[2] or "curl_response", found, create=False)
            found.opaque |= not _GLOB.isdisjoint(url) and not parsed.has("globoff")
        found.opaque |= parsed.has("remote-header-name")
    for value in parsed.values_of("write-out"):
        pieces = value.split("%output{")[1:]
        for piece in pieces:
            found.write(piece.partition("}")[0].removeprefix(">>"))


def _into(folder: str, name: str, found: Found, *, create: bool) -> None:
    full = inside(folder, name) if folder else name
    found.write(full)
    if create:
        found.make_parents(full)


_WGET = Syntax(
    short={
        "O": "output-document", "P": "directory-prefix", "i": "input-file", "o": "output-file",
        "a": "append-output", "e": "execute", "r": "recursive", "m": "mirror", "p": "page-requisites",
        "H": "span-hosts", "B": "base", "x": "force-directories",
    },
    short_values="eoaiBtOTwQPUlARDIXn",
    flags=words(

            "version help background debug quiet verbose no-verbose force-html no-config retry-connrefused"
            " no-clobber no-netrc continue show-progress timestamping no-if-modified-since"
            " no-use-server-timestamps server-response spider random-wait no-proxy no-dns-cache ignore-case"
            " inet4-only inet6-only ask-password no-iri unlink xattr no-directories force-directories"
            " no-host-directories protocol-directories no-cache adjust-extension ignore-length save-headers"
            " no-http-keep-alive no-cookies keep-session-cookies content-disposition content-on-error"
            " auth-no-challenge https-only no-check-certificate no-hsts no-remove-listing no-glob"
            " no-passive-ftp preserve-permissions retr-symlinks ftps-implicit ftps-resume-ssl"
            " ftps-clear-data-connection ftps-fallback-to-ftp warc-cdx no-warc-compression no-warc-digests"
            " no-warc-keep-log recursive delete-after convert-links convert-file-only backup-converted"
            " mirror page-requisites strict-comments follow-ftp span-hosts relative trust-server-names"
            " no-parent"
    ),
    values=words(

            "execute output-file append-output report-speed input-file base config rejected-log tries"
            " retry-on-http-error output-document start-pos progress timeout dns-timeout connect-timeout"
            " read-timeout wait waitretry quota bind-address limit-rate restrict-file-names prefer-family"
            " user password use-askpass local-encoding remote-encoding directory-prefix cut-dirs http-user"
            " http-password default-page header compression proxy-user proxy-password referer user-agent"
            " load-cookies save-cookies post-data post-file method body-data body-file secure-protocol"
            " certificate certificate-type private-key private-key-type ca-certificate ca-directory"
            " crl-file pinnedpubkey ciphers ftp-user ftp-password warc-file warc-header warc-max-size"
            " warc-dedup warc-tempdir level accept reject accept-regex reject-regex regex-type domains"
            " exclude-domains follow-tags ignore-tags include-directories exclude-directories hsts-file"
            " max-redirect dns-servers input-metalink preferred-location"
    ),
)  # fmt: skip


def _wget(argv: Sequence[str], places: Places) -> Effects:
    found = Found(places)
    parsed = parse(argv[1:], _WGET)
    folder = parsed.last("directory-prefix")
    found.opaque |= parsed.has(
        "execute",
        "config",
        "input-file",
        "input-metalink",
        "use-askpass",
        "content-disposition",
        "span-hosts",
        "trust-server-names",
    )
    for option in (
        "post-file", "body-file", "load-cookies", "config", "certificate", "private-key", "ca-certificate",
        "ca-directory", "crl-file", "input-metalink", "warc-dedup",
    ):  # fmt: skip
        found.read_all(parsed.values_of(option))
    for option in ("output-file", "append-output", "save-cookies", "rejected-log", "hsts-file"):
        for name in parsed.values_of(option):
            if name != STANDARD_STREAM:
                found.write(name)
    for name in parsed.values_of("warc-file"):
        for ending in (".warc.gz", ".warc", ".cdx"):
            found.write(name + ending)
    for name in parsed.values_of("input-file"):
        if is_url(name):
            found.url(name, 80)
        else:
            found.read_all([name])
    for name in parsed.values_of("base"):
        found.url(name, 80)
    documents = parsed.values_of("output-document")
    for name in documents:
        if name != STANDARD_STREAM:
            found.write(name)
    for url in parsed.operands:
        if not url:
            continue
        found.url(url, 80)
        if parsed.has("recursive", "mirror", "page-requisites", "force-directories"):
            found.write(folder or ".", True)
        elif not documents and not parsed.has("spider"):
            path = split_url(url).path.partition("#")[0]
            name = path.rpartition("/")[2] if "?" not in path else path.partition("?")[0].rpartition("/")[2]
            query = path.partition("?")[2]
            name = (name or "index.html") + (f"?{query.replace('/', '%2F')}" if query else "")
            found.write(inside(folder, name) if folder else name)
    return found.effects()


_TABLE = {
    "aria2c": program(
        "u",
        short={"i": "input-file", "o": "out", "d": "dir", "l": "log"},
        short_values="iodlsxkjTMO",
        values={"input-file": "r!", "out": "w", "dir": "W", "log": "w", "all-proxy": "u", "http-proxy": "u",
                "https-proxy": "u", "load-cookies": "r", "save-cookies": "w", "conf-path": "r!",
                "on-download-complete": "!", "on-download-start": "!"},
        doubts="on-download-complete on-download-start",
        port=80,
    ),
    "lynx links w3m elinks": program("U", doubts="cmd_script", port=80),
    "youtube-dl yt-dlp": program(
        "u!",
        short={"o": "output", "a": "batch-file", "P": "paths"},
        short_values="oaPfrR",
        values={"exec": "!", "batch-file": "r!", "output": "w", "cookies": "r", "proxy": "u", "paths": "W"},
        port=443,
    ),
}  # fmt: skip


_METHODS = words("GET POST PUT DELETE PATCH HEAD OPTIONS")


def _httpie(argv: Sequence[str], places: Places) -> Effects:
    """`http [METHOD] URL [name=value, name@file, name:=@file ...]`."""
    found = Found(places)
    parsed = parse(argv[1:], _HTTPIE)
    for name in parsed.values_of("output"):
        found.write(name)
    for option in ("cert", "cert-key"):
        found.read_all(parsed.values_of(option))
    for value in parsed.values_of("proxy"):
        found.url(value.partition(":")[2], 80)
    operands = [operand for operand in parsed.operands if operand]
    if operands and operands[0].upper() in _METHODS:
        operands = operands[1:]
    if not operands:
        return found.effects()
    address, *items = operands
    secure = argv[0].rpartition("/")[2].endswith("https")
    found.url(f"localhost{address}" if address.startswith(":") else address, 443 if secure else 80)
    for item in items:
        at = item.find("@")
        if at >= 0:
            found.read(item[at + 1 :].partition(";")[0])
    if parsed.has("download") and not parsed.has("output"):
        found.doubt()
    return found.effects()


_HTTPIE = Syntax(
    short={"o": "output", "d": "download"},
    short_values="oapAsP",
    flags=words("json form multipart verbose headers body stream download continue follow ignore-stdin"),
    values=words(
        "output auth auth-type print style proxy session session-read-only max-redirects timeout verify"
        " cert cert-key boundary pretty"),
)  # fmt: skip


PROGRAMS: dict[str, Analyse] = analysers(_TABLE) | {
    "curl": _curl,
    "wget": _wget,
    "http": _httpie,
    "https": _httpie,
    "xh": _httpie,
    "xhs": _httpie,
}
