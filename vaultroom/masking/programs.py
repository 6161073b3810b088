"""Programs that take a secret by an option or at a place that does not say so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

ATTACHED, VALUE, COOKIES, NOTHING, PLAIN, USER_AND_PASSWORD, PERCENT, COMMA, EQUALS, SLASH = range(10)
"""What an option or a place takes: a glued secret, a secret, cookies, nothing, no secret, or a pair."""
MARKS: Final = {USER_AND_PASSWORD: b":", PERCENT: b"%", COMMA: b",", EQUALS: b"=", SLASH: b"/"}
"""What stands between a user and a password, or between a name and its value."""

_CURL = {
    b"-u": USER_AND_PASSWORD, b"--user": USER_AND_PASSWORD, b"-U": USER_AND_PASSWORD,
    b"--proxy-user": USER_AND_PASSWORD, b"-b": COOKIES, b"--cookie": COOKIES,
    b"--oauth2-bearer": VALUE, b"--pass": VALUE, b"-E": USER_AND_PASSWORD, b"--cert": USER_AND_PASSWORD,
}  # fmt: skip
_MYSQL = {b"-p": ATTACHED, b"--password": NOTHING}
_RAR = {b"-p": ATTACHED, b"-hp": ATTACHED}
_SEVEN_ZIP = {b"-p": ATTACHED}
_SMALL_W = {b"-w": VALUE}
_SMALL_P = {b"-p": VALUE}
_CAPITAL_P = {b"-P": VALUE}
_HTTPIE = {b"-a": USER_AND_PASSWORD, b"--auth": USER_AND_PASSWORD}
_VAULT = dict.fromkeys(b"-method -path -address -namespace -format -field -ca-cert -mount".split(), PLAIN)
_SMB = {b"-U": PERCENT, b"--user": PERCENT}
_CREDS = dict.fromkeys(b"--creds --src-creds --dest-creds".split(), USER_AND_PASSWORD)
_KEYTOOL = dict.fromkeys(
    b"-storepass -keypass -srcstorepass -deststorepass -srckeypass -destkeypass -new".split(), VALUE
)
_MYSQL_PROGRAMS = b"mysql mysqldump mysqladmin mysqlimport mysqlsh mariadb mariadb-dump mariadb-admin"
_LDAP_PROGRAMS = b"ldapsearch ldapmodify ldapadd ldapdelete ldapwhoami ldapcompare ldapmodrdn ldappasswd"
_TAKES_P = (
    b"sshpass login twine cqlsh cypher-shell useradd usermod mongo mongosh mongodump mongorestore mongoexport"
    b" mongoimport"
)
_TAKES_CAPITAL_P = b"zip unzip sqlcmd bcp osql ipmitool mosquitto_pub mosquitto_sub"
OPTIONS_OF: Mapping[bytes, Mapping[bytes, int]] = {
    **dict.fromkeys(_MYSQL_PROGRAMS.split(), _MYSQL),
    **dict.fromkeys(b"7z 7za 7zz".split(), _SEVEN_ZIP),
    **dict.fromkeys(b"rar unrar".split(), _RAR),
    **dict.fromkeys(b"http https httpie xh xhs".split(), _HTTPIE),
    **dict.fromkeys(_LDAP_PROGRAMS.split(), _SMALL_W),
    **dict.fromkeys(_TAKES_P.split(), _SMALL_P),
    **dict.fromkeys(_TAKES_CAPITAL_P.split(), _CAPITAL_P),
    **dict.fromkeys(b"smbclient smbget rpcclient".split(), _SMB),
    **dict.fromkeys(b"keytool jarsigner".split(), _KEYTOOL),
    **dict.fromkeys(b"skopeo podman buildah".split(), _CREDS),
    b"ldappasswd": {b"-w": VALUE, b"-a": VALUE, b"-s": VALUE},
    b"curl": _CURL,
    b"wget": {},
    b"redis-cli": {b"-a": VALUE},
    b"lftp": {b"-u": COMMA},
    b"etcdctl": {b"--user": USER_AND_PASSWORD},
    b"doctl": {b"-t": VALUE},
    b"openssl": {b"-k": VALUE, b"-K": VALUE, b"-pass": NOTHING},
    b"openssl passwd": {b"-salt": PLAIN, b"-in": PLAIN},
    b"ssh-keygen": {b"-N": VALUE, b"-P": VALUE},
    b"gh secret": {b"-b": VALUE, b"--body": VALUE},
    b"glab login": {b"-t": VALUE},
    b"az secret": {b"--value": VALUE},
    b"kubectl secret": {b"--from-literal": EQUALS},
    b"poetry publish": {b"-p": VALUE},
    b"uv publish": {b"-p": VALUE, b"-t": VALUE},
    b"nuget push": {b"-k": VALUE},
    b"security add": {b"-w": VALUE},
    b"security unlock": {b"-p": VALUE},
    b"pulumi secret": {b"--secret": NOTHING},
    **dict.fromkeys((b"vault login", b"vault key", b"vault put"), _VAULT),
}
"""Options whose value is a secret for one program alone. The key is a program, a subcommand (`docker login
-p`) or a name that `SUBCOMMANDS` gives.
"""
SUBCOMMANDS: Mapping[tuple[bytes, bytes], bytes] = {
    (b"gh", b"secret"): b"gh secret",
    (b"glab", b"login"): b"glab login",
    (b"az", b"secret"): b"az secret",
    (b"kubectl", b"secret"): b"kubectl secret",
    (b"oc", b"secret"): b"kubectl secret",
    (b"poetry", b"publish"): b"poetry publish",
    (b"uv", b"publish"): b"uv publish",
    (b"nuget", b"push"): b"nuget push",
    (b"nuget", b"setApiKey"): b"cargo login",
    (b"security", b"add-generic-password"): b"security add",
    (b"security", b"add-internet-password"): b"security add",
    (b"security", b"unlock-keychain"): b"security unlock",
    (b"pulumi", b"--secret"): b"pulumi secret",
    (b"openssl", b"passwd"): b"openssl passwd",
    (b"cargo", b"login"): b"cargo login",
    (b"snyk", b"auth"): b"cargo login",
    (b"ngrok", b"authtoken"): b"cargo login",
    (b"ngrok", b"add-authtoken"): b"cargo login",
    (b"rclone", b"obscure"): b"cargo login",
    (b"bw", b"unlock"): b"cargo login",
    (b"bw", b"login"): b"bw login",
    (b"mysqladmin", b"password"): b"cargo login",
    (b"mariadb-admin", b"password"): b"cargo login",
    (b"nmcli", b"password"): b"cargo login",
    (b"rabbitmqctl", b"add_user"): b"bw login",
    (b"rabbitmqctl", b"change_password"): b"bw login",
    (b"vault", b"login"): b"vault login",
    (b"vault", b"unseal"): b"vault key",
    (b"vault", b"unwrap"): b"vault key",
    (b"vault", b"token"): b"vault token",
    (b"vault token", b"lookup"): b"vault key",
    (b"vault token", b"renew"): b"vault key",
    (b"vault token", b"revoke"): b"vault key",
    (b"vault", b"kv"): b"vault kv",
    (b"vault kv", b"put"): b"vault put",
    (b"vault kv", b"patch"): b"vault put",
    (b"fly", b"secrets"): b"fly secrets",
    (b"flyctl", b"secrets"): b"fly secrets",
    (b"doppler", b"secrets"): b"fly secrets",
    (b"supabase", b"secrets"): b"fly secrets",
}
"""A program and a later word of its: what the words after them are read as."""
PLACES: Mapping[bytes, tuple[int, int]] = {
    b"vault login": (0, VALUE),
    b"vault key": (0, VALUE),
    b"cargo login": (0, VALUE),
    b"openssl passwd": (0, VALUE),
    b"bw login": (1, VALUE),
    b"pulumi secret": (1, VALUE),
    b"wpa_passphrase": (1, VALUE),
    b"htpasswd": (2, VALUE),
    **dict.fromkeys(b"sqlplus sqlldr expdp impdp".split(), (0, SLASH)),
}
"""Which operand, counted from 0 and without options, is a secret, and of what kind."""
SECRET_PAIRS = frozenset((b"vault put", b"fly secrets"))
"""Every `NAME=value` after these is a secret, whatever its name."""
FLAGS: Mapping[bytes, bytes] = {
    b"curl": b"#012346BGIJLMNOQRSZafgijklnpqsv",
    b"zip": b"rjq0123456789", b"unzip": b"joqaL",
    **dict.fromkeys(_LDAP_PROGRAMS.split(), b"xvncLZ"),
}  # fmt: skip
"""Letters that take no value and may stand before one that does: `curl -su me:x`."""
LONG_NAMES = frozenset(b"openssl keytool jarsigner".split()) | {b"vault login", b"vault key", b"vault put"}
"""Programs whose long options have one dash: a value is never glued to a letter."""
HTTPIE = frozenset(b"http https httpie xh xhs".split())
HTTP_CLIENTS = HTTPIE | {b"curl", b"wget"}
FILE_PROGRAMS = frozenset(
    b"rm rmdir unlink mv cp ln dd truncate shred tee chmod chown chgrp find git-clean mkdir touch".split()
)
"""None of these has an option that takes a secret: their operands are never masked for their place."""
RUNNING = frozenset(b"-exec -execdir -ok -okdir".split())
"""Options of `find` behind which another command stands."""
SHELLS = frozenset(b"sh bash dash zsh ksh ash fish eval".split())
"""What these take may be code: it is read as such."""
NAMING = frozenset((b"set", b"config"))
"""After these a bare secret name is followed by its value: `npm config set TOKEN x`."""
PROGRAMS = frozenset(
    name
    for name in (OPTIONS_OF.keys() | PLACES.keys() | {program for program, _ in SUBCOMMANDS})
    if b" " not in name
)
TELLING = NAMING | PROGRAMS | FILE_PROGRAMS | SHELLS
"""Words that change how later words are read."""
HINTS = frozenset(name for name in OPTIONS_OF.keys() | PLACES.keys() if b" " not in name) | frozenset(
    word for (program, word) in SUBCOMMANDS if b" " not in program
)
"""A command without any of these words takes no secret at a place of its own."""
