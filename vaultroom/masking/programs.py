"""Programs whose options take a secret under a name that does not say so."""

from __future__ import annotations

from collections.abc import Mapping

ATTACHED, VALUE, USER_AND_PASSWORD, PERCENT, COOKIES, NOTHING = range(6)
_MYSQL = {b"-p": ATTACHED, b"--password": NOTHING}
_MONGO = {b"-p": VALUE}
_SEVEN_ZIP = {b"-p": ATTACHED}
_RAR = {b"-p": ATTACHED, b"-hp": ATTACHED}
_LDAP = {b"-w": VALUE}
_ZIP = {b"-P": VALUE}
_CURL = {
    b"-u": USER_AND_PASSWORD, b"--user": USER_AND_PASSWORD, b"-U": USER_AND_PASSWORD,
    b"--proxy-user": USER_AND_PASSWORD, b"-b": COOKIES, b"--cookie": COOKIES,
    b"--oauth2-bearer": VALUE, b"--pass": VALUE,
}  # fmt: skip
_HTTPIE = {b"-a": USER_AND_PASSWORD, b"--auth": USER_AND_PASSWORD}
OPTIONS_OF: Mapping[bytes, Mapping[bytes, int]] = {
    **dict.fromkeys(
        b"mysql mysqldump mysqladmin mysqlimport mysqlsh mariadb mariadb-dump mariadb-admin".split(), _MYSQL
    ),
    **dict.fromkeys(b"mongo mongosh mongodump mongorestore mongoexport mongoimport".split(), _MONGO),
    **dict.fromkeys(b"7z 7za 7zz".split(), _SEVEN_ZIP),
    **dict.fromkeys(b"rar unrar".split(), _RAR),
    **dict.fromkeys(b"http https httpie xh xhs".split(), _HTTPIE),
    **dict.fromkeys(b"ldapsearch ldapmodify ldapadd ldapdelete ldapwhoami".split(), _LDAP),
    **dict.fromkeys(b"zip unzip".split(), _ZIP),
    b"curl": _CURL,
    b"wget": {},
    b"sshpass": {b"-p": VALUE},
    b"redis-cli": {b"-a": VALUE},
    b"login": {b"-p": VALUE},
    b"smbclient": {b"-U": PERCENT},
    b"openssl": {b"-k": VALUE, b"-K": VALUE, b"-pass": NOTHING},
    b"ssh-keygen": {b"-N": VALUE, b"-P": VALUE},
}
"""Options whose value is a secret for one program alone. The key may also be a subcommand (`docker login
-p`).
"""
HTTP_CLIENTS = frozenset(b"curl wget http https httpie xh xhs".split())
FILE_PROGRAMS = frozenset(
    b"rm rmdir unlink mv cp ln dd truncate shred tee chmod chown chgrp find git-clean mkdir touch".split()
)
"""None of these has an option that takes a secret: their operands are never masked for their place."""
NAMING = frozenset((b"set", b"config"))
"""After these a bare secret name is followed by its value: `npm config set TOKEN x`."""
TELLING = NAMING | OPTIONS_OF.keys() | FILE_PROGRAMS
"""Words that change how later words are read."""
