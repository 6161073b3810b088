"""docker, podman and kubectl: host paths that containers get to see, copies in and out, images to files.

A volume that is not read-only lets the container read and write everything below it. What the container
runs cannot be told from here.
"""

from __future__ import annotations

from collections.abc import Sequence

from vaultroom.shell.effects.found import STANDARD_STREAM, Found
from vaultroom.shell.effects.hosts import is_url
from vaultroom.shell.effects.options import Parsed, Syntax, parse
from vaultroom.shell.effects.touch import Analyse, Effects, Places, basename, inside
from vaultroom.shell.subcommand import split_global_options
from vaultroom.shell.words import words

_RUN = Syntax(
    short={"v": "volume", "e": "env", "u": "user", "w": "workdir"},
    short_values="acehlmpuvw",
    short_flags="diPqt",
    flags=words(
        "detach disable-content-trust help init interactive no-healthcheck oom-kill-disable privileged"
        " publish-all quiet read-only rm sig-proxy tty use-api-socket replace"),
    values=words(

            "add-host annotation attach blkio-weight blkio-weight-device cap-add cap-drop cgroup-parent"
            " cgroupns cidfile cpu-count cpu-percent cpu-period cpu-quota cpu-rt-period cpu-rt-runtime"
            " cpu-shares cpus cpuset-cpus cpuset-mems detach-keys device device-cgroup-rule device-read-bps"
            " device-read-iops device-write-bps device-write-iops dns dns-option dns-search domainname"
            " entrypoint env env-file expose gpus group-add health-cmd health-interval health-retries"
            " health-start-interval health-start-period health-timeout hostname io-maxbandwidth io-maxiops"
            " ip ip6 ipc isolation kernel-memory label label-file link link-local-ip log-driver log-opt"
            " mac-address memory memory-reservation memory-swap memory-swappiness mount name net network"
            " net-alias network-alias oom-score-adj pid pids-limit platform publish pull restart runtime"
            " security-opt shm-size stop-signal stop-timeout storage-opt sysctl tmpfs ulimit user userns"
            " uts volume volume-driver volumes-from workdir secret pod pidfile conmon-pidfile arch os"
    ),
    leading=True,
)  # fmt: skip
_BUILD = Syntax(
    short={"f": "file", "o": "output", "t": "tag"},
    short_values="cfmotv",
    flags=words("compress force-rm no-cache pull quiet rm squash push load check"),
    values=words(
        "add-host build-arg build-context cache-from cache-to cgroup-parent cpu-period cpu-quota cpu-shares"
        " cpuset-cpus cpuset-mems file iidfile isolation label memory memory-swap network platform"
        " security-opt shm-size tag target ulimit output secret ssh progress builder allow attest"
        " metadata-file volume"),
)  # fmt: skip
_FILES = Syntax(
    short={"o": "output", "i": "input", "f": "file", "a": "archive", "u": "username", "p": "password"},
    short_values="oif",
    flags=words("archive follow-link quiet all force"),
    values=words(
        "output input file username password platform change message project-directory env-file"
        " project-name profile"),
)  # fmt: skip


def _docker(argv: Sequence[str], places: Places) -> Effects:
    found = Found(places)
    program = "podman" if argv[0].endswith("podman") else "docker"
    options, rest = split_global_options(program, argv)
    for name, value in options:
        if name in ("-H", "--host", "--url", "--connection") and is_url(value):
            if value.startswith("unix:"):
                found.write(value[5:].lstrip("/") and "/" + value[5:].lstrip("/"))
            else:
                found.url(value)
        elif name == "--config":
            found.read(value, True)
    if rest[:1] in (["container"], ["image"], ["buildx"], ["builder"]):
        rest = rest[1:]
    command, arguments = (rest[0], rest[1:]) if rest else ("", [])
    if command in ("run", "create"):
        _run(parse(arguments, _RUN), found)
    elif command in ("build", "bake"):
        _build(parse(arguments, _BUILD), found)
    elif command == "cp":
        _copy(parse(arguments, _FILES).operands, found)
    elif command in ("pull", "push", "login"):
        _registry(parse(arguments, _FILES), command, found)
    elif command in ("save", "export", "load", "import", "compose", "commit"):
        _image_files(command, parse(arguments, _FILES), found)
    elif command in ("exec", "attach", "stack", "swarm", "plugin", "play", "kube"):
        found.opaque |= "--privileged" in arguments or command in ("plugin", "play", "kube")
    return found.effects()


def _run(parsed: Parsed, found: Found) -> None:
    for volume in parsed.values_of("volume"):
        _volume(volume, found)
    for mount in parsed.values_of("mount"):
        _mount(mount, found)
    for device in parsed.values_of("device"):
        name = device.partition(":")[0]
        if name.startswith("/"):
            found.read(name)
            found.write(name)
    for option in ("env-file", "label-file"):
        found.read_all(parsed.values_of(option))
    for option in ("cidfile", "pidfile", "conmon-pidfile"):
        for name in parsed.values_of(option):
            found.write(name)
    found.opaque |= parsed.has(
        "privileged", "cap-add", "use-api-socket", "device-cgroup-rule", "volumes-from"
    )
    found.opaque |= any(
        value.startswith("host") for value in parsed.values_of("pid") + parsed.values_of("userns")
    )


def _volume(text: str, found: Found) -> None:
    """`host:container[:options]`; a name without a slash is a volume of the engine's."""
    host, colon, rest = text.partition(":")
    if not colon or not host:
        return
    options = rest.partition(":")[2].split(",")
    _bind(host, found, read_only="ro" in options or "readonly" in options)


def _bind(host: str, found: Found, *, read_only: bool) -> None:
    if host.startswith("~"):
        home = found.at_home(host[2:]) if host[1:2] in ("", "/") else ""
        found.opaque |= not home
        host = home or host
    elif "/" not in host and not host.startswith("."):
        return
    found.read(host, None)
    if not read_only:
        found.write(host, None)


def _mount(text: str, found: Found) -> None:
    fields: dict[str, str] = {}
    for field in text.split(","):
        name, _, value = field.strip().strip('"').partition("=")
        fields[name.lower()] = value.strip('"')
    if '"' in text:
        found.doubt()
    source = fields.get("source", fields.get("src", ""))
    reads = any(fields.get(name, "false").lower() in ("", "true", "1") for name in ("readonly", "ro"))
    if source and fields.get("type", "bind") == "bind":
        _bind(source, found, read_only=reads)
    elif "device=" in text:
        found.doubt()


def _build(parsed: Parsed, found: Found) -> None:
    for context in parsed.operands[:1]:
        if is_url(context):
            found.url(context)
        elif context.startswith(("git@", "github.com/")):
            found.host(
                context.partition("@")[2].partition(":")[0] or "github.com", 22 if "@" in context else 443
            )
        elif context != STANDARD_STREAM:
            found.read(context, True)
    found.read_all(parsed.values_of("file"))
    for option in ("iidfile", "metadata-file"):
        for name in parsed.values_of(option):
            found.write(name)
    for value in parsed.values_of("output"):
        fields = dict(part.partition("=")[::2] for part in value.split(","))
        found.write(fields.get("dest", value if "=" not in value and value != STANDARD_STREAM else ""), True)
    for option in ("secret", "ssh"):
        for value in parsed.values_of(option):
            fields = dict(part.partition("=")[::2] for part in value.split(","))
            found.read(fields.get("src", fields.get("source", "")))
    for value in parsed.values_of("build-context"):
        place = value.partition("=")[2]
        if is_url(place):
            found.url(place)
        elif ":" not in place:
            found.read(place, True)
    for value in parsed.values_of("volume"):
        _volume(value, found)


def _copy(operands: Sequence[str], found: Found) -> None:
    """`cp container:path here` and back; a path with a slash before its colon is here."""
    if len(operands) < 2:
        return
    *sources, target = operands
    for source in sources:
        if source != STANDARD_STREAM and not _is_inside(source):
            found.read(source, None)
    if target != STANDARD_STREAM and not _is_inside(target):
        for source in sources:
            name = basename(source.partition(":")[2]) if _is_inside(source) else basename(source)
            folder = target.endswith("/") or found.places.is_directory(target)
            plain = name not in ("", ".", "..")
            found.write(inside(target, name) if folder and plain else target, True)


def _is_inside(text: str) -> bool:
    """Whether it is `container:path`, or kubectl's `namespace/pod:path`."""
    before, colon, _ = text.partition(":")
    return bool(colon) and before.count("/") <= 1 and not before.startswith(("/", ".", "~"))


def _registry(parsed: Parsed, command: str, found: Found) -> None:
    for operand in parsed.operands[:1]:
        first, slash, _ = operand.partition("/")
        if is_url(operand):
            found.url(operand)
        elif command == "login" or (slash and ("." in first or ":" in first or first == "localhost")):
            found.host(first, 443)


def _image_files(command: str, parsed: Parsed, found: Found) -> None:
    for name in parsed.values_of("output"):
        found.write(name)
    found.read_all(parsed.values_of("input") + parsed.values_of("env-file"))
    if command == "compose":
        found.read_all(parsed.values_of("file"))
        found.opaque |= any(word in ("up", "run", "create", "start") for word in parsed.operands)
    elif command == "import":
        for operand in parsed.operands[:1]:
            if is_url(operand):
                found.url(operand)
            else:
                found.read_all([operand])


_KUBECTL = Syntax(
    short={
        "f": "filename",
        "k": "kustomize",
        "n": "namespace",
        "s": "server",
        "c": "container",
        "l": "selector",
        "o": "output",
    },
    short_values="fknsclo",
    flags=words("recursive force all watch dry-run prune wait no-preserve"),
    values=words(
        "filename kustomize namespace server container selector output kubeconfig from-file from-env-file"
        " patch-file context cluster user token cache-dir certificate-authority client-certificate"
        " client-key output-directory retries"
    ),
)


def _kubectl(argv: Sequence[str], places: Places) -> Effects:
    found = Found(places)
    options, rest = split_global_options("kubectl", argv)
    parsed = parse(rest[1:], _KUBECTL)
    servers = [value for name, value in options if name in ("-s", "--server")] + parsed.values_of("server")
    for server in servers:
        found.url(server, 443)
    found.read_all(
        [value for name, value in options if name == "--kubeconfig"] + parsed.values_of("kubeconfig")
    )
    for name in parsed.values_of("filename"):
        if is_url(name):
            found.url(name)
        else:
            found.read_all([name], None)
    for name in parsed.values_of("kustomize"):
        found.read(name, True)
    for value in parsed.values_of("from-file"):
        found.read(value.partition("=")[2] or value, None)
    found.read_all(parsed.values_of("from-env-file") + parsed.values_of("patch-file"))
    for name in parsed.values_of("output-directory"):
        found.write(name, True)
    if rest[:1] == ["cp"]:
        _copy(parsed.operands, found)
    return found.effects()


_HELM = Syntax(
    short={"f": "values", "d": "destination"},
    short_values="fdn",
    values=words("values destination repo ca-file cert-file key-file set-file untardir post-renderer version"
                 " namespace kubeconfig keyring output-dir"),
)  # fmt: skip


def _helm(argv: Sequence[str], places: Places) -> Effects:
    found = Found(places)
    rest = split_global_options("helm", argv)[1]
    parsed = parse(rest[1:], _HELM)
    found.opaque |= parsed.has("post-renderer") or rest[:1] == ["plugin"]
    for value in parsed.values_of("values"):
        for name in value.split(","):
            if is_url(name):
                found.url(name)
            else:
                found.read(name)
    for value in parsed.values_of("repo"):
        found.url(value, 443)
    for option in ("destination", "untardir", "output-dir"):
        for name in parsed.values_of(option):
            found.write(name, True)
    for operand in parsed.operands:
        if is_url(operand):
            found.url(operand)
        elif operand.startswith(("./", "../", "/")):
            found.read(operand, None)
    return found.effects()


PROGRAMS: dict[str, Analyse] = {
    "docker": _docker,
    "podman": _docker,
    "nerdctl": _docker,
    "kubectl": _kubectl,
    "oc": _kubectl,
    "helm": _helm,
}
