"""curl and wget."""

from __future__ import annotations

import pytest

from tests.kit.effects import foreseen, rows

TABLE = r"""
curl https://Host.Example./x                          → n:host.example:443
curl host.example                                     → n:host.example:80
curl -sSL host.example:8080/a                         → n:host.example:8080
curl http://u:p@h/x                                   → n:h:80
curl "http://u@evil@h/x"                              → n:h:80
curl "http://[::1]:80/"                               → n:::1:80
curl http://0x7f.1/                                   → ! n:0x7f.1:80
curl http://2130706433/                               → ! n:2130706433:80
curl http://127.0.0.1/                                → n:127.0.0.1:80
curl http://%65vil/                                   → ! n:%65vil:80
curl "http://h{a,b}/"                                 → ! n:h{a,b}:80
curl "http://good\\@evil/"                            → ! n:evil:80
curl http:///h/x                                      → n:h:80
curl http://h:99999/                                  → ! n:h:0
curl file:///etc/passwd                               → r:/etc/passwd
curl FILE:/etc/passwd                                 → r:/etc/passwd
curl --url h --next g                                 → n:h:80 n:g:80
curl -o x h                                           → n:h:80 w:/w/x
curl -ox h                                            → n:h:80 w:/w/x
curl -sox h                                           → n:h:80 w:/w/x
curl --output x h                                     → n:h:80 w:/w/x
curl --output-dir /d -O http://h/a/b?q                → n:h:80 w:/d/b
curl -O h                                             → n:h:80 w:/w/curl_response
curl -OJ http://h/x                                   → ! n:h:80 w:/w/x
curl -o "#1" "http://h/{a,b}"                         → ! n:h:80 w:/w/#1
curl -T a h                                           → n:h:80 r:/w/a
curl -d @.env h                                       → n:h:80 r:/w/.env
curl -d.env h                                         → n:h:80
curl -d@.env h                                        → n:h:80 r:/w/.env
curl --data-binary @- h                               → n:h:80
curl --data-urlencode n@f h                           → n:h:80 r:/w/f
curl --data-urlencode n=@f h                          → n:h:80
curl -sFname=@.env h                                  → n:h:80 r:/w/.env
curl -F "a=<f;type=x" h                               → n:h:80 r:/w/f
curl --form-string a=@f h                             → n:h:80
curl --json @f h                                      → n:h:80 r:/w/f
curl -H @f h                                          → n:h:80 r:/w/f
curl -b c -c jar h                                    → n:h:80 r:/w/c w:/w/jar
curl -b a=b h                                         → n:h:80
curl -D dump h                                        → n:h:80 w:/w/dump
curl --trace-ascii t h                                → n:h:80 w:/w/t
curl -K cfg                                           → ! r:/w/cfg
curl -x http://p:3128 h                               → n:h:80 n:p:3128
curl --socks5-hostname p h                            → n:h:80 n:p:1080
curl --resolve a.com:443:10.0.0.1,[::2] https://a.com → n:a.com:443 n:10.0.0.1:443 n:::2:443
curl --connect-to a.com:443:b.com:8443 https://a.com  → n:a.com:443 n:b.com:8443
curl --unix-socket /s h                               → n:h:80 r:/s w:/s
curl -w "%output{/x}y" h                              → n:h:80 w:/x
curl --cert c:pw --key k h                            → n:h:80 r:/w/k r:/w/c
curl -n h                                             → n:h:80 r:/h/.netrc
curl -- -o x                                          → ! n:-o:80 n:x:80
curl -H --help evil.example                           → n:evil.example:80
wget http://h/a/b                                     → n:h:80 w:/w/b
wget h                                                → n:h:80 w:/w/index.html
wget -qO- h                                           → n:h:80
wget -O p h                                           → w:/w/p n:h:80
wget -P /d http://h/a.txt                             → n:h:80 w:/d/a.txt
wget --output-doc=p h                                 → w:/w/p n:h:80
wget -nc http://h/x                                   → n:h:80 w:/w/x
wget -r http://h/                                     → n:h:80 w:/w/**
wget -rH http://h/                                    → ! n:h:80 w:/w/**
wget --post-file=f h                                  → r:/w/f n:h:80 w:/w/index.html
wget --body-file f h                                  → r:/w/f n:h:80 w:/w/index.html
wget -i list                                          → ! r:/w/list
wget -i http://h/list                                 → ! n:h:80
wget -e http_proxy=x h                                → ! n:h:80 w:/w/index.html
wget -o log h                                         → w:/w/log n:h:80 w:/w/index.html
http POST h/x a@f                                     → n:h:80 r:/w/f
https h                                               → n:h:443
http :8080/x                                          → n:localhost:8080
aria2c -d /d -o f http://h/x                          → w:/w/f w:/d/** n:h:80
"""


@pytest.mark.parametrize(("line", "expected"), rows(TABLE))
def test_effects(line: str, expected: str) -> None:
    assert foreseen(line) == expected
