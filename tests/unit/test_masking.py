"""Masking: what is hidden, what must stay visible, and that it always comes out the same."""

from __future__ import annotations

import hashlib
import json
import shlex
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from vaultroom.masking import MASK, MOST_DEPTH, TOO_DEEP, mask_arguments, mask_argv, mask_path, mask_text

TOKENS = [
    "sk-abcdefghijklmnopqrstuvwx",
    "sk-ant-api03-abcdefghijklmnop",
    "sk-proj-abcdefghijklmnopqrst",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "gho_abcdefghijklmnopqrstuvwxyz0123456789",
    "ghs_abcdefghijklmnopqrstuvwxyz0123456789",
    "github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuv",
    "glpat-abcdefghijklmnopqrst",
    "xoxb-123456789012-abcdefghijkl",
    "AKIAABCDEFGHIJKLMNOP",
    "AIzaSyA1234567890abcdefghijklmnopqrstuv",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdefghijk",
    "npm_abcdefghijklmnopqrstuvwxyz0123456789",
    "hf_abcdefghijklmnopqrstuvwxyz",
]


@pytest.mark.parametrize("token", TOKENS)
@pytest.mark.parametrize(
    "line", ["echo {}", "echo '{}'", "x={} y", "f --opt={}", "git clone https://{}@host/r", "a/{}/b"]
)
def test_known_shapes(token: str, line: str) -> None:
    masked = mask_text(line.format(token))
    assert masked == line.format(MASK)
    assert mask_argv(shlex.split(line.format(token))) == tuple(shlex.split(line.format(MASK)))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("tool --password X a", "tool --password ‹masked› a"),
        ("tool --password=X a", "tool --password=‹masked› a"),
        ("tool -password X a", "tool -password ‹masked› a"),
        ("tool --api-key X --apiKey Y", "tool --api-key ‹masked› --apiKey ‹masked›"),
        ("tool --db-password 'a b'", "tool --db-password ‹masked›"),
        ("tool --client-secret=X;next", "tool --client-secret=‹masked›;next"),
        ("TOKEN=X GH_TOKEN=Y run", "TOKEN=‹masked› GH_TOKEN=‹masked› run"),
        ("export AWS_SECRET_ACCESS_KEY=X", "export AWS_SECRET_ACCESS_KEY=‹masked›"),
        ("export PASSWORD='a b'", "export PASSWORD=‹masked›"),
        ("export 'PASSWORD=a b'", "export 'PASSWORD=‹masked›'"),
        ("docker run -e API_TOKEN=X img", "docker run -e API_TOKEN=‹masked› img"),
        ("docker run --env=API_TOKEN=X img", "docker run --env=API_TOKEN=‹masked› img"),
        ("PGPASSWORD=X psql", "PGPASSWORD=‹masked› psql"),
        ("mysql -uroot -pX db", "mysql -uroot -p‹masked› db"),
        ("docker exec db mysqldump -pX all", "docker exec db mysqldump -p‹masked› all"),
        ("sshpass -p X ssh h", "sshpass -p ‹masked› ssh h"),
        ("redis-cli -a X ping", "redis-cli -a ‹masked› ping"),
        ("docker login -u me -p X r", "docker login -u me -p ‹masked› r"),
        ("curl -u me:X u", "curl -u me:‹masked› u"),
        ("curl -u 'me:X' u", "curl -u 'me:‹masked›' u"),
        ("curl -ume:X u", "curl -ume:‹masked› u"),
        ("curl --user=me:X u", "curl --user=me:‹masked› u"),
        ("curl -b 'sid=X; a=b' u", "curl -b ‹masked› u"),
        ("curl -b jar.txt u", "curl -b jar.txt u"),
        ("http -a me:X u", "http -a me:‹masked› u"),
        ("zip -P X a.zip b", "zip -P ‹masked› a.zip b"),
        ("openssl enc -k X -pass pass:Y", "openssl enc -k ‹masked› -pass pass:‹masked›"),
        ("git clone https://me:X@h/r", "git clone https://me:‹masked›@h/r"),
        ("psql postgres://u:p@ss@h/d", "psql postgres://u:‹masked›@h/d"),
        ("curl 'https://h/?a=1&token=X&b=2'", "curl 'https://h/?a=1&token=‹masked›&b=2'"),
        ("curl 'https://h/?sig=X#f'", "curl 'https://h/?sig=‹masked›#f'"),
        ("curl -H 'Authorization: Bearer X' u", "curl -H 'Authorization: Bearer ‹masked›' u"),
        ('curl -H "Authorization: token X" u', 'curl -H "Authorization: token ‹masked›" u'),
        ("curl -H Authorization:\\ X u", "curl -H Authorization:‹masked› u"),
        ("curl -H 'Cookie: a=1; b=2' u", "curl -H 'Cookie: ‹masked›' u"),
        ("curl --header='X-Api-Key: X' u", "curl --header='X-Api-Key: ‹masked›' u"),
        ("curl -H 'Accept: text/html' u", "curl -H 'Accept: text/html' u"),
        (
            "curl -d '{\"password\": \"X\", \"user\": \"u\"}' u",
            "curl -d '{\"password\": \"‹masked›\", \"user\": \"u\"}' u",
        ),
        ('curl -d "{\\"api_key\\": \\"X\\"}" u', 'curl -d "{\\"api_key\\": \\"‹masked›\\"}" u'),
        ("sh -c 'curl --token X; rm -rf /'", "sh -c 'curl --token ‹masked›; rm -rf /'"),
        ("npm config set //r/:_authToken X", "npm config set //r/:_authToken ‹masked›"),
        ("npm config set //r/:_authToken=X", "npm config set //r/:_authToken=‹masked›"),
        ("aws configure set aws_secret_access_key X", "aws configure set aws_secret_access_key ‹masked›"),
        (
            "kubectl create secret generic s --from-literal=password=X",
            "kubectl create secret generic s --from-literal=password=‹masked›",
        ),
        ("sqlcmd 'Server=h;Password=X;Db=d'", "sqlcmd 'Server=h;Password=‹masked›;Db=d'"),
        ("printf 'host=h password=X db=d'", "printf 'host=h password=‹masked› db=d'"),
    ],
)  # fmt: skip
def test_only_the_value_is_masked(line: str, expected: str) -> None:
    assert mask_text(line) == expected
    assert mask_text(expected) == expected


@pytest.mark.parametrize(
    "line",
    [
        "curl '-HCookie: a=b; c=hunter2' u",
        "curl -sHCookie:hunter2 u",
        "curl -sSu me:hunter2 u",
        "curl -E cert.pem:hunter2 u",
        "wget --password hunter2 u",
        "wget '--header=Cookie: hunter2' u",
        "http h Authorization:hunter2 a=b",
        "http -ame:hunter2 h",
        "gh secret set API --body hunter2",
        "gh secret set API -bhunter2",
        "gh secret set API_TOKEN --body=hunter2",
        "glab auth login -t hunter2",
        "vault login hunter2",
        "vault login -method github hunter2=",
        "vault operator unseal hunter2",
        "vault token revoke hunter2",
        "vault kv put secret/x any=hunter2",
        "fly secrets set DSN=hunter2",
        "htpasswd -b f u hunter2",
        "htpasswd -nb u hunter2",
        "htpasswd -cbBC 10 f u hunter2",
        "twine upload -p hunter2 x",
        "docker login -u me -phunter2 r",
        "az login --service-principal -u a -p hunter2",
        "az keyvault secret set -n x --value hunter2",
        "helm registry login -p hunter2 r",
        "helm repo add a u --password hunter2",
        "kubectl --token hunter2 get pods",
        "kubectl create secret generic s --from-literal=any=hunter2",
        "kubectl create secret generic s --from-literal any=hunter2",
        "aws configure set aws_session_token hunter2",
        "openssl req -new -passin pass:hunter2 -passout pass:hunter2",
        "openssl passwd -1 -salt s hunter2",
        "sshpass -phunter2 ssh h",
        "mysql -phunter2",
        "mysqladmin -u root password hunter2",
        "psql postgres://u:hunter2@h/d",
        "redis-cli -a hunter2 ping",
        "ldapsearch -xw hunter2 -b x",
        "ldappasswd -s hunter2 dn",
        "smbclient //h/s -U u%hunter2",
        "lftp -u u,hunter2 h",
        "sqlplus u/hunter2@db",
        "keytool -list -storepass hunter2",
        "zip -rP hunter2 a.zip b",
        "cargo login hunter2",
        "bw login me@h hunter2",
        "rabbitmqctl add_user u hunter2",
        "pulumi config set --secret k hunter2",
        "security add-generic-password -a me -w hunter2",
        "tailscale up --authkey hunter2",
        "rm https://u:hunter2@h/x",
        "find . -exec curl -u me:hunter2 {} +",
    ],
)  # fmt: skip
def test_programs_that_take_a_secret_at_a_place_of_their_own(line: str) -> None:
    argv = shlex.split(line)
    for masked in (mask_text(line), " ".join(mask_argv(argv)), mask_text(shlex.join(argv))):
        assert "hunter2" not in masked and MASK in masked
        assert mask_text(masked) == masked


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/w/https:/u:X@h/x", "/w/https:/u:‹masked›@h/x"),
        ("/w/postgres:/u:X@h", "/w/postgres:/u:‹masked›@h"),
        ("/w/https://u:X@h/x", "/w/https://u:‹masked›@h/x"),
        (f"/w/{TOKENS[3]}/x", "/w/‹masked›/x"),
        ("/w/a:b@c/d", "/w/a:b@c/d"),
        ("/w/c:/u/x:y@h", "/w/c:/u/x:y@h"),
        ("/w/auth/secret/token", "/w/auth/secret/token"),
    ],
)
def test_paths(path: str, expected: str) -> None:
    assert mask_path(path) == expected
    assert mask_path(expected) == expected


@pytest.mark.parametrize(
    "argv",
    [
        ["bash", "-c", "TOKEN=x; rm -rf /home"],
        ["bash", "-c", "--", "--token=x; rm -rf /home"],
        ["ssh", "h", "TOKEN=x; rm -rf /home"],
        ["docker", "exec", "curl", "bash", "-c", "-HCookie: x; rm -rf /home"],
        ["rm", "login", "-p", "/home"],
        ["rm", "twine", "-p", "/home"],
        ["rm", "-f", "vault", "login", "/home"],
        ["mv", "htpasswd", "a", "/home"],
    ],
)
def test_a_command_in_arguments_cannot_hide_either(argv: list[str]) -> None:
    assert "/home" in mask_argv(argv)[-1]
    assert "/home" in mask_text(shlex.join(argv))


@pytest.mark.parametrize(
    "line",
    [
        "gh pr create --body text --title t",
        "gh auth login --with-token",
        "gh secret list",
        "heroku auth:token",
        "npm login --registry https://r",
        "vault login -method=oidc role=dev",
        "vault kv get secret/x",
        "vault token lookup",
        "htpasswd -c f u",
        "docker run -p 80:80 login.img",
        "openssl req -key a.pem -keyout b.pem -passin file:f",
        "curl -sSfL https://h/login",
        "curl -sSo out https://h/login",
        "http h Accept:text/html",
        "kubectl get secret x -o yaml",
        "cargo publish -p crate",
        "rm -rf dist '-my file; x'",
        "rm -rf build dist",
        "git commit -m 'token handling'",
        "tool --max-tokens 500 --token-file f --password-stdin --no-password a",
        "tool --token-count 5 --password-hint x --secret-name y --access-key-id z",
        "mysql --password db",
        "docker run -p 80:80 img",
        "mkdir -p secret/password",
        "rm --token /home",
        "git clone git@github.com:o/r ssh://git@h/r https://me@h/r",
        "PWD=/x OLDPWD=/y run",
        "curl https://h/tokens?page=2",
        "cmd --password \"$PW\" --token=$TOKEN --secret `x`",
        "python -m pytest tests/test_token.py::test_secret",
        "keytool -list",
        "git -c alias.token='!rm -rf x' token",
        "restic --password-command 'rm -rf x' check",
        "'rm' --token /home",
        "echo monkey=1 keyboard: x",
        "tool --password --verbose",
        "tool --password",
        "tool --password=",
    ],
)  # fmt: skip
def test_what_is_no_secret_stays(line: str) -> None:
    assert mask_text(line) == line


@pytest.mark.parametrize(
    "line",
    [
        "tool --token=$(rm -rf /home)",
        'tool --token "$(rm -rf /home)"',
        "tool --token `rm -rf /home`",
        "tool --token x; rm -rf /home",
        "tool --token x\nrm -rf /home",
        "tool --token \nrm -rf /home",
        "Cookie: x; rm -rf /home",
        "bash -c 'Authorization: x; rm -rf /home'",
        "bash -c -H 'Authorization: x; rm -rf /home'",
        "bash -c '\"token\":\"$(rm -rf /home)\"'",
        "echo -----BEGIN PRIVATE KEY-----\nrm -rf /home\necho -----END PRIVATE KEY-----",
        "cat <<E\ndon't\nE\necho 'a --token '; rm -rf /home; echo ''",
        "cat <<E\ndon't\nE\nX='--token ' rm -rf /home ''",
        "# don't\nX='--token ' rm -rf /home ''",
        "curl -H 'x'Authorization: y; rm -rf /home; echo 'b'",
        "curl \"https://h/?token=$(rm -rf /home)\"",
        "curl https://u:$(rm -rf /home)@h",
        "password='a'; rm -rf /home; b='c'",
        "echo \"$(echo \"' --token \")\"' rm -rf /home '",
        "sh -c 'cat <<E\ndon\"t\nE\nX=\"--token \" rm -rf /home \"\"'",
        "echo 'a' --token ' rm -rf /home",
    ],
)  # fmt: skip
def test_a_command_cannot_hide_behind_a_secret(line: str) -> None:
    assert "rm -rf /home" in mask_text(line)


def test_private_keys() -> None:
    key = (
        "-----BEGIN RSA PRIVATE KEY-----\n" + ("QUJD" * 16 + "\n") * 3 + "QUI=\n-----END RSA PRIVATE KEY-----"
    )
    masked = mask_text(f"echo '{key}'")
    assert "QUJD" not in masked and "BEGIN RSA PRIVATE KEY" in masked and mask_text(masked) == masked
    assert "QUJD" not in mask_text(json.dumps({"key": key}))
    assert "QUJD" not in mask_argv(["echo", key])[1]


def test_argv_keeps_its_length_and_its_commands() -> None:
    argv = ("sh", "-c", "curl --token abc", "--password", "a b; c", "x")
    assert mask_argv(argv) == ("sh", "-c", f"curl --token {MASK}", "--password", MASK, "x")


def test_undecodable_arguments() -> None:
    assert mask_argv(("tool", "\udcff", "--token", "\udcfe")) == ("tool", "\udcff", "--token", MASK)
    assert mask_text("a\udcff --token \ud800x") == f"a\udcff --token {MASK}"


def test_arguments_of_tools() -> None:
    content = "hello\n"
    digest = {"sha256": hashlib.sha256(content.encode()).hexdigest(), "bytes": 6}
    given_arguments: dict[str, Any] = {
        "command": "curl --token abc",
        "headers": {"Authorization": "Bearer abc", "Accept": "x", "Cookie": ["a", 5]},
        "content": content,
        "edits": [{"old_string": content, "newText": content, "path": "p"}],
        "env": [{"name": "API_KEY", "value": "abc"}, {"name": "HOME", "value": "/h"}],
        "args": ["--password", "abc", "x"],
        "max_tokens": 500,
        "token": 12345,
        "password": None,
        "secret": True,
        "credentials": {"user": "u", "passphrase": "abc"},
        "file_path": "/x/token",
        "n": 1.5,
    }
    masked = mask_arguments(given_arguments)
    assert masked == {
        "command": f"curl --token {MASK}",
        "headers": {"Authorization": MASK, "Accept": "x", "Cookie": [MASK, MASK]},
        "content": digest,
        "edits": [{"old_string": digest, "newText": digest, "path": "p"}],
        "env": [{"name": "API_KEY", "value": MASK}, {"name": "HOME", "value": "/h"}],
        "args": ["--password", MASK, "x"],
        "max_tokens": 500,
        "token": MASK,
        "password": None,
        "secret": True,
        "credentials": {"user": "u", "passphrase": MASK},
        "file_path": "/x/token",
        "n": 1.5,
    }
    assert mask_arguments(masked) == masked


def test_deep_arguments_end() -> None:
    value: Any = "x"
    for _ in range(MOST_DEPTH + 500):
        value = [value]
    masked = mask_arguments(value)
    assert TOO_DEEP in json.dumps(masked, ensure_ascii=False)
    assert mask_arguments(masked) == masked


def test_nesting_has_an_end() -> None:
    for text in ("--a=" * 5000 + "token", "a=" * 5000 + "--token=x", "'" + "\"'" * 3000 + "token"):
        assert mask_text(text) == mask_text(mask_text(text))
        mask_argv([text, text])


def test_a_very_long_text_still_hides_its_secrets() -> None:
    padding = "x y " * 20_000
    line = f"{padding} --token abcd API_KEY='efgh' {TOKENS[0]} --verbose keep; rm -rf /home"
    assert mask_text(line) == f"{padding} --token {MASK} API_KEY='{MASK}' {MASK} --verbose keep; rm -rf /home"


FRAGMENTS = st.sampled_from(
    [
        "--password", "--token=", "TOKEN=", "a", "b c", "'", '"', " ", " ", "=", ":", "\n", ";", "$",
        "$(x)", "`", "\\", "<<E", "#", "Authorization: ", "Bearer ", "Cookie:", "curl ", "-H ", "-u ",
        "mysql ", "-p", "https://", "u:p@h", "?token=", "&key=", '{"password": "', '"}',
        '\\"api_key\\":\\"', MASK, "sk-abcdefghijklmnopqrstuvwx", "set ", "login ", "pass:", "openssl ",
        ",", "secret", "-----BEGIN PRIVATE KEY-----", "QUJDQUJDQUJDQUJDQUJD",
        "-----END PRIVATE KEY-----", "\udcff", "é", "\0", "x-api-key", "xoxb-",
    ]
)  # fmt: skip
TEXTS = st.one_of(st.lists(FRAGMENTS, max_size=14).map("".join), st.text(max_size=40))


@given(TEXTS)
@settings(max_examples=700)
def test_masking_a_text_twice_changes_nothing_more(text: str) -> None:
    once = mask_text(text)
    assert mask_text(once) == once


@given(st.lists(TEXTS, max_size=6))
@settings(max_examples=400)
def test_masking_argv_twice_changes_nothing_more(argv: list[str]) -> None:
    once = mask_argv(argv)
    assert len(once) == len(argv)
    assert mask_argv(once) == once


JSON = st.recursive(
    TEXTS | st.integers() | st.booleans() | st.none(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["token", "content", "name", "value", "x", "password"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_masking_arguments_twice_changes_nothing_more(value: Any) -> None:
    once = mask_arguments(value)
    assert mask_arguments(once) == once
    json.dumps(once)


PLACES = [
    "--password {}",
    "--token={}",
    "API_KEY={}",
    "curl -H 'Authorization: Bearer {}' u",
    "https://u:{}@h",
]


@given(st.from_regex(r"[A-Za-z0-9]{20,30}", fullmatch=True), st.sampled_from(PLACES))
@example("a" * 20, "--token={}")
def test_no_secret_survives(secret: str, line: str) -> None:
    assert secret not in mask_text("tool " + line.format(secret))
    assert secret not in " ".join(mask_argv(shlex.split("tool " + line.format(secret))))
