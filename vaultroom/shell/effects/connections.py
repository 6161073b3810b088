"""Programs that open a connection: nc, socat, telnet, ping, dig, openssl, and clients of databases."""

from __future__ import annotations

from collections.abc import Sequence

from vaultroom.shell.effects.declared import analysers, declared_touches, program
from vaultroom.shell.effects.found import STANDARD_STREAM, Found
from vaultroom.shell.effects.hosts import endpoint, port_of
from vaultroom.shell.effects.options import Syntax, parse
from vaultroom.shell.effects.touch import Analyse, Effects, Places
from vaultroom.shell.words import words

_NC = Syntax(
    short={"l": "listen", "e": "exec", "c": "sh-exec", "x": "proxy", "U": "unixsock", "k": "keep-open"},
    short_values="eIimMOopPqsTVwWXx",
    flags=words("listen keep-open ssl udp sctp telnet zero-length verbose unixsock broker chat append-output"
                " nodns recv-only send-only no-shutdown ssl-verify crlf"),
    values=words("exec sh-exec lua-exec proxy proxy-type proxy-auth proxy-dns output hex-dump source"
                 " source-port wait idle-timeout delay max-conns allow allowfile deny denyfile ssl-cert"
                 " ssl-key ssl-trustfile ssl-ciphers ssl-alpn ssl-servername"),
)  # fmt: skip


def _netcat(argv: Sequence[str], places: Places) -> Effects:
    """`nc host port`. `-c` and `-e` run a program in some netcats; in others `-c` is a switch."""
    found = Found(places)
    parsed = parse(argv[1:], _NC)
    found.opaque |= parsed.has("exec", "sh-exec", "lua-exec")
    for name in parsed.values_of("output") + parsed.values_of("hex-dump") + parsed.values_of("o"):
        found.write(name)
    for option in ("ssl-cert", "ssl-key", "ssl-trustfile", "allowfile", "denyfile"):
        found.read_all(parsed.values_of(option))
    for proxy in parsed.values_of("proxy"):
        found.host(proxy, 1080)
    operands = [operand for operand in parsed.operands if operand]
    if parsed.has("unixsock"):
        for name in operands:
            found.read(name)
            found.write(name)
    elif not parsed.has("listen"):
        _hosts_and_ports(operands, found)
    return found.effects()


def _host_and_port(operands: Sequence[str], found: Found, port: int = 0) -> None:
    host = operands[0]
    ports = [port_of(word) for word in operands[1:]] or [port]
    for number in ports:
        found.connect(endpoint(f"[{host}]" if host.count(":") > 1 else host, number))


def _hosts_and_ports(operands: Sequence[str], found: Found) -> None:
    """Netcats differ in which switches take a value, so every operand that is no port may be the host."""
    hosts = [word for word in operands if not word.replace("-", "").isdigit()] or operands[:1]
    ports = [port_of(word) for word in operands if port_of(word)] or [0]
    for host in hosts:
        _host_and_port([host, *map(str, ports)], found)


def _telnet(argv: Sequence[str], places: Places) -> Effects:
    found = Found(places)
    parsed = parse(argv[1:], Syntax(short_values="belnSXk"))
    for name in parsed.values_of("n"):
        found.write(name)
    operands = [operand for operand in parsed.operands if operand]
    if operands:
        _host_and_port(operands, found, 23 if argv[0].endswith("telnet") else 21)
    return found.effects()


_SOCAT_CONNECTS = words(
    "tcp tcp4 tcp6 tcp-connect tcp4-connect tcp6-connect udp udp4 udp6 udp-connect udp4-connect udp6-connect"
    " udp-sendto udp4-sendto udp6-sendto udp-datagram udp4-datagram udp6-datagram openssl ssl openssl-connect"
    " sctp sctp-connect sctp4 sctp6 sctp4-connect sctp6-connect dccp dccp-connect openssl-dtls-client"
    " dtls-connect ip ip4 ip6 ip-sendto inet inet4 inet6"
)
_SOCAT_PROXIES = words("socks4 socks4a socks5 socks5-connect proxy proxy-connect socks")
_SOCAT_FILES = words("open file create creat gopen pipe fifo unix unix-connect unix-client unix-sendto "
                     " unix-listen abstract-connect")  # fmt: skip
_SOCAT_QUIET = words("stdio stdin stdout stderr fd pty readline - tun")


def _socat(argv: Sequence[str], places: Places) -> Effects:
    found = Found(places)
    parsed = parse(argv[1:], Syntax(short={}, short_values="", short_attached="dlbtTLW", one_dash=True))
    for address in parsed.operands:
        for part in address.split("!!"):
            _socat_address(part, found)
    return found.effects()


def _socat_address(address: str, found: Found) -> None:
    head, _, options = address.partition(",")
    kind, colon, rest = head.partition(":")
    kind = kind.lower()
    if kind in _SOCAT_CONNECTS:
        host, _, port = rest.rpartition(":")
        found.connect(endpoint(host if host.startswith("[") else host or rest, port_of(port)))
    elif kind in _SOCAT_PROXIES:
        pieces = rest.split(":")
        found.host(pieces[0], 1080)
        if len(pieces) > 2:
            found.connect(endpoint(pieces[1], port_of(pieces[2])))
    elif kind in _SOCAT_FILES or (not colon and "/" in kind):
        name = (rest if kind in _SOCAT_FILES else head).replace('"', "").replace("'", "")
        found.opaque |= "\\" in name
        found.read(name)
        if kind != "open" or not _is_read_only(options):
            found.write(name)
    elif kind.endswith(("-listen", "-l")):
        pass
    elif kind not in _SOCAT_QUIET and not kind.isdigit():
        found.doubt()  # exec, system, shell, and whatever a newer socat has


def _is_read_only(options: str) -> bool:
    return any(option.strip().lower() in ("rdonly", "rdonly=1") for option in options.split(","))


_DIG = Syntax(short_values="bcfkpqtxy", short={"f": "batch", "x": "reverse", "q": "name"})


def _dig(argv: Sequence[str], places: Places) -> Effects:
    """A name looked up tells the name to a server, so the name counts as a host as well."""
    found = Found(places)
    parsed = parse(argv[1:], _DIG)
    port = port_of(parsed.last("p")) or 53
    for name in parsed.values_of("batch"):
        found.read_all([name])
        found.doubt()
    for operand in parsed.operands + parsed.values_of("name") + parsed.values_of("reverse"):
        if operand.startswith("@"):
            found.host(operand[1:], port)
        elif not operand.startswith("+") and operand.upper() not in _RECORDS:
            found.host(operand, 53)
    return found.effects()


_RECORDS = words("A AAAA ANY AXFR CAA CH CNAME DNSKEY DS HTTPS IN IXFR MX NS PTR SOA SRV SVCB TXT TLSA")


def _lookup(argv: Sequence[str], places: Places) -> Effects:
    """nslookup and host: a name, then perhaps a server."""
    found = Found(places)
    for operand in parse(argv[1:], Syntax(short_values="tcmNRWp", one_dash=True)).operands[:2]:
        if operand != STANDARD_STREAM:
            found.host(operand, 53)
    return found.effects()


_OPENSSL_FILES = program(
    "",
    one_dash=True,
    values={
        "in": "r", "out": "w", "key": "r", "inkey": "r", "cert": "r", "certfile": "r", "CAfile": "r",
        "CApath": "r", "CA": "r", "CAkey": "r", "kfile": "r", "config": "r!", "keyout": "w", "passin": "",
        "pass": "", "passout": "", "sigfile": "r", "signature": "r", "rand": "r", "writerand": "w",
        "connect": "h", "host": "h", "proxy": "h", "signkey": "r", "verify": "r", "prverify": "r",
        "sign": "r", "engine": "!", "provider": "!", "provider-path": "!", "extfile": "r!", "url": "u",
    },
)  # fmt: skip


def _openssl(argv: Sequence[str], places: Places) -> Effects:
    found = Found(places)
    parsed = parse(argv[2:], _OPENSSL_FILES.syntax)
    declared_touches(_OPENSSL_FILES, parsed, found)
    for option in ("pass", "passin", "passout"):
        for value in parsed.values_of(option):
            if value.startswith("file:"):
                found.read(value[5:])
    command = argv[1] if len(argv) > 1 else ""
    if command == "s_client":
        for operand in parsed.operands[:1]:
            found.host(operand, 443)
    elif command not in ("rand", "prime", "passwd", "version", "ciphers", "list"):
        found.read_all(parsed.operands)
    return found.effects()


_TABLE = {
    "ping ping6 fping traceroute traceroute6 tracepath mtr arping": program(
        "h", short_values="ciIlmMpQsStwW"
    ),
    "whois finger": program("h", short={"h": "host"}, short_values="hpTtisV", values={"host": "h"}, port=43),
    "ssh-keyscan": program("h", short={"f": "file"}, short_values="fpTt", values={"file": "r!"}, port=22),
    "ssh-copy-id": program(
        "h",
        short={"i": "identity"},
        short_values="iopFt",
        values={"identity": "r", "F": "r!", "o": "!"},
        port=22,
    ),
    "ssh-keygen": program(
        short={"f": "file", "s": "ca", "R": "remove", "Y": "sig"},
        short_values="fCtbNPmaDnIVzsRrFOEwZW",
        values={"file": "rw", "ca": "r", "D": "!", "w": "!"},
    ),
    "mosh autossh": program("h!", short_values="pi", port=22),
    "redis-cli": program(
        short={"h": "host"}, short_values="hpsanu", values={"host": "h", "u": "u", "s": "rw"}, port=6379
    ),
    "psql pg_dump pg_restore pg_dumpall createdb dropdb": program(
        short={"h": "host", "f": "file", "o": "output"},
        short_values="hpUdcfoLvFR",
        values={"host": "h", "file": "rw", "output": "w"},
        port=5432,
    ),
    "mysql mysqldump mysqladmin mariadb": program(
        short={"h": "host", "r": "result-file"},
        short_values="huPDSer",
        attached="p",
        values={"host": "h", "result-file": "w", "defaults-file": "r!", "defaults-extra-file": "r!"},
        port=3306,
    ),
    "mongosh mongo mongodump mongorestore": program(
        "u", short={"h": "host"}, values={"host": "h", "uri": "u"}, port=27017
    ),
    "nmap": program("h", short_values="pioD", values={"oN": "w"}, doubts="script iL"),
    "gpg gpg2": program(
        "r",
        short={"o": "output", "r": "recipient", "u": "local-user"},
        short_values="oruN",
        other_values="recipient local-user homedir passphrase passphrase-fd cipher-algo digest-algo",
        values={"output": "w", "keyserver": "u", "passphrase-file": "r", "options": "r!", "keyring": "r"},
        port=11371,
    ),
}

PROGRAMS: dict[str, Analyse] = analysers(_TABLE) | {
    "nc": _netcat,
    "ncat": _netcat,
    "netcat": _netcat,
    "nc.openbsd": _netcat,
    "nc.traditional": _netcat,
    "telnet": _telnet,
    "ftp": _telnet,
    "socat": _socat,
    "dig": _dig,
    "kdig": _dig,
    "drill": _dig,
    "nslookup": _lookup,
    "host": _lookup,
    "openssl": _openssl,
}
