"""Package managers: registries and addresses given as options or operands, and folders they install into.

Where nothing is given they use a configured registry, whose host cannot be told from here.
"""

from __future__ import annotations

from collections.abc import Sequence

from vaultroom.shell.effects.declared import Program, analysers, declared_touches, program
from vaultroom.shell.effects.found import Found
from vaultroom.shell.effects.hosts import is_url
from vaultroom.shell.effects.options import parse
from vaultroom.shell.effects.touch import Analyse, Effects, Places

_FORGES = {
    "github": "github.com",
    "gitlab": "gitlab.com",
    "bitbucket": "bitbucket.org",
    "gist": "gist.github.com",
}

_PIP = program(
    short={
        "i": "index-url",
        "f": "find-links",
        "t": "target",
        "r": "requirement",
        "c": "constraint",
        "e": "editable",
        "d": "dest",
        "w": "wheel-dir",
    },
    short_values="iftrcedwb",
    flags=(
        "upgrade user no-deps pre no-index quiet verbose isolated require-virtualenv no-input no-cache-dir"
        " disable-pip-version-check no-color debug force-reinstall ignore-installed ignore-requires-python"
        " no-build-isolation compile no-compile no-warn-script-location require-hashes prefer-binary dry-run"
        " break-system-packages no-clean yes help version use-pep517"
    ),
    values={
        "index-url": "u",
        "extra-index-url": "u",
        "default-index": "u",
        "index": "u",
        "find-links": "U",
        "proxy": "u",
        "target": "W",
        "prefix": "W",
        "root": "W",
        "src": "W",
        "dest": "W",
        "wheel-dir": "W",
        "requirement": "U",
        "constraint": "U",
        "requirements": "U",
        "log": "w",
        "log-file": "w",
        "report": "w",
        "cache-dir": "W",
        "cert": "r",
        "client-cert": "r",
        "build": "W",
        "python": "!",
        "editable": "",
        "only-binary": "",
        "no-binary": "",
        "platform": "",
        "python-version": "",
        "implementation": "",
        "abi": "",
        "trusted-host": "",
        "upgrade-strategy": "",
        "root-user-action": "",
        "config-settings": "",
        "global-option": "!",
        "timeout": "",
        "retries": "",
        "exists-action": "",
        "keyring-provider": "",
        "use-feature": "",
        "use-deprecated": "",
        "progress-bar": "",
    },
    port=443,
)

_NPM = program(
    short={"C": "prefix", "w": "workspace"},
    short_values="Cw",
    flags=(

            "global save save-dev save-optional save-exact save-peer no-save force dry-run production"
            " verbose silent legacy-peer-deps ignore-scripts no-audit no-fund json yes foreground-scripts"
            " workspaces frozen-lockfile prefer-offline offline recursive"
    ),
    values={
        "registry": "u", "proxy": "u", "https-proxy": "u", "prefix": "W", "cache": "W", "userconfig": "r!",
        "globalconfig": "r!", "dir": "W", "cwd": "W", "modules-folder": "W", "global-dir": "W",
        "store-dir": "W", "pack-destination": "W", "script-shell": "!", "node-options": "!", "cafile": "r",
        "workspace": "", "loglevel": "", "tag": "", "otp": "", "omit": "", "include": "", "scope": "",
        "access": "", "filter": "", "global-folder": "W", "cache-folder": "W", "install-directory": "W",
    },
    port=443,
)  # fmt: skip

_CARGO = program(
    short={"Z": "unstable", "j": "jobs", "p": "package", "F": "features", "C": "directory"},
    short_values="ZjpFC",
    flags="release all-features no-default-features verbose quiet locked offline frozen workspace all force"
    " list dry-run",
    values={
        "index": "U",
        "git": "U",
        "path": "R",
        "root": "W",
        "target-dir": "W",
        "manifest-path": "r",
        "config": "!",
        "directory": "",
        "registry": "",
        "package": "",
        "features": "",
        "bin": "",
        "example": "",
        "jobs": "",
        "target": "",
        "profile": "",
        "version": "",
        "branch": "",
        "tag": "",
        "rev": "",
        "token": "",
        "out-dir": "W",
        "artifact-dir": "W",
        "color": "",
        "message-format": "",
    },
    port=443,
)

_GO = program(
    one_dash=True,
    short={"o": "out", "C": "directory"},
    short_values="oCp",
    flags="x v a n i race work mod u t d json",
    values={
        "out": "w",
        "exec": "!",
        "toolexec": "!",
        "modfile": "r",
        "overlay": "r!",
        "coverprofile": "w",
        "cpuprofile": "w",
        "memprofile": "w",
        "outputdir": "W",
        "pkgdir": "W",
        "ldflags": "",
        "gcflags": "",
        "asmflags": "",
        "tags": "",
        "run": "",
        "count": "",
        "timeout": "",
        "mod": "",
        "vettool": "!",
    },
)

_GEM = program(
    short={"s": "source", "i": "install-dir", "n": "bindir", "p": "http-proxy", "v": "version", "g": "file"},
    short_values="sinvP",
    flags="user-install no-document force local remote clear-sources conservative no-user-install",
    values={
        "source": "u", "install-dir": "W", "bindir": "W", "http-proxy": "u", "version": "", "file": "r",
        "host": "u", "build-root": "W", "config-file": "r!", "platform": "", "add": "u",
    },
    port=443,
)  # fmt: skip


def _manager(entry: Program) -> Analyse:
    """A manager whose operands may be addresses, repositories or local paths besides names."""

    def effects(argv: Sequence[str], places: Places) -> Effects:
        found = Found(places)
        parsed = parse(argv[1:], entry.syntax)
        declared_touches(entry, parsed, found)
        for operand in parsed.operands[1:] + parsed.values_of("editable"):
            _package(operand, found)
        return found.effects()

    return effects


def _package(text: str, found: Found) -> None:
    """`git+https://host/x`, `name @ https://…`, `github:owner/x`, `file:../x`, `./x`, `x.whl`."""
    name, at, address = text.partition("@ ")
    if at and name:
        text = address.strip()
    elif (
        "@" in text[1:]
        and is_url(text[text.index("@", 1) + 1 :])
        and not is_url(text.partition("@")[0] + "//x")
    ):
        text = text[text.index("@", 1) + 1 :]
    if text.startswith(("git+", "hg+", "svn+", "bzr+")):
        text = text.partition("+")[2]
        if text.startswith("git@"):
            text = f"ssh://{text.replace(':', '/', 1)}"
    elif text.startswith("git@"):
        text = f"ssh://{text.replace(':', '/', 1)}"
    kind, colon, rest = text.partition(":")
    if colon and kind in _FORGES:
        found.host(_FORGES[kind], 443)
    elif is_url(text):
        found.url(text)
    elif kind in ("file", "link", "portal") and colon:
        found.read(rest, None)
    elif text.startswith(("./", "../", "/", ".")) or text.endswith(
        (".whl", ".tar.gz", ".tgz", ".zip", ".gem", ".crate")
    ):
        found.read(text.partition("[")[0] or text, None)


_BREW = program(short={}, values={"appdir": "W", "fontdir": "W"})
_DPKG = program(
    "r", short={"i": "install", "x": "extract"}, values={"root": "W", "instdir": "W", "admindir": "W"}
)
_APT = program(
    short={"o": "option", "c": "config-file", "t": "target-release"},
    short_values="oct",
    values={"option": "!", "config-file": "r!", "target-release": ""},
)

PROGRAMS: dict[str, Analyse] = {
    **dict.fromkeys(
        ("pip", "pip2", "pip3", "pipx", "uv", "pdm", "poetry", "conda", "mamba", "easy_install"),
        _manager(_PIP),
    ),
    **dict.fromkeys(("npm", "npx", "yarn", "pnpm", "pnpx", "bun", "bunx", "corepack"), _manager(_NPM)),
    "cargo": _manager(_CARGO),
    "go": _manager(_GO),
    **dict.fromkeys(("gem", "bundle", "bundler"), _manager(_GEM)),
    "brew": _manager(_BREW),
    **dict.fromkeys(("apt", "apt-get", "dnf", "yum", "zypper", "apk", "pacman"), _manager(_APT)),
} | analysers({"dpkg rpm": _DPKG})
