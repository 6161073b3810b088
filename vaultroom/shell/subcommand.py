"""The subcommand of programs that have them: `git -C x push` → `push`.

A rule that tests `argv[1] == "push"` is passed by with a global option; `event.subcommand` is not. What
stands here is the data: for each program the global options that take a value in the next argument.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vaultroom.shell.words import words

WITH_VALUE: Mapping[str, frozenset[str]] = {
    "git": words(
        "-C -c --git-dir --work-tree --namespace --super-prefix --config-env --attr-source --shallow-file"
    ),
    "docker": words("-H --host -c --context --config -l --log-level --tlscacert --tlscert --tlskey"),
    "podman": words(
        "-c --connection --url --root --runroot --log-level --identity --cgroup-manager --conmon --config"
        " --events-backend --hooks-dir --imagestore --module --network-cmd-path --network-config-dir --out"
        " --pull-option --runtime --runtime-flag --ssh --storage-driver --storage-opt --tmpdir --tls-ca"
        " --tls-cert"
        " --tls-key --volumepath"
    ),
    "kubectl": words(
        "-n --namespace -s --server --context --cluster --user --token --kubeconfig --as --as-group --as-uid"
        " --as-user-extra --cache-dir --certificate-authority --client-certificate --client-key --kuberc"
        " --log-flush-frequency --password --profile --profile-output --request-timeout --tls-server-name"
        " --username -v --v --vmodule"
    ),
    "helm": words(
        "-n --namespace --kube-context --kubeconfig --kube-apiserver --kube-as-user --kube-as-group"
        " --kube-ca-file"
        " --kube-token --kube-tls-server-name --registry-config --repository-cache --repository-config"
        " --burst-limit --qps --content-cache --color --colour"
    ),
    "npm": words(
        "-C --prefix -w --workspace --registry --cache --userconfig --globalconfig --loglevel --tag --otp"
        " --omit"
        " --include --script-shell --node-options --before --access --scope"
    ),
    "cargo": words("--color --config -Z -C --explain --manifest-path --target-dir -j --jobs"),
    "pip": words(
        "--python --log --keyring-provider --proxy --retries --timeout --exists-action --trusted-host --cert"
        " --client-cert --cache-dir --use-feature --use-deprecated --resume-retries"
    ),
    "gh": words("-R --repo --hostname"),
    "go": frozenset({"-C"}),
    "systemctl": words(
        "-H --host -M --machine -C --capsule -t --type -p --property -P -s --signal -n --lines -o"
        " --output --root --image"
        " --image-policy --state --job-mode --kill-whom --kill-who --kill-value --kill-mode --what --message"
        " --when --preset-mode --check-inhibitors --boot-loader-menu --boot-loader-entry --reboot-argument"
        " --timestamp --drop-in"
    ),
    "terraform": frozenset(),
    "aws": words(
        "--region --profile --output --query --endpoint-url --ca-bundle --cli-read-timeout"
        " --cli-connect-timeout --color --cli-binary-format --cli-error-format"
    ),
}

KNOWN_FLAGS: Mapping[str, frozenset[str]] = {
    "git": words(
        "--version --help --exec-path --html-path --man-path --info-path --paginate --no-pager"
        " --no-replace-objects --no-lazy-fetch --no-optional-locks --no-advice --bare --literal-pathspecs"
        " --glob-pathspecs --noglob-pathspecs --icase-pathspecs"
    ),
    "docker": words("--debug --tls --tlsverify --version --help"),
    "podman": words("--help --version --noout --remote --syslog --transient-store"),
    "kubectl": words(
        "--help --insecure-skip-tls-verify --warnings-as-errors --disable-compression --match-server-version"
    ),
    "helm": words("--debug --help --kube-insecure-skip-tls-verify"),
    "npm": words(
        "--version --help --silent --quiet --verbose --yes --force --global --json --no-audit --no-fund"
        " --legacy-peer-deps --offline --prefer-offline --ignore-scripts --workspaces"
    ),
    "cargo": words("--version --list --verbose --quiet --locked --offline --frozen --help"),
    "pip": words(
        "--help --version --debug --isolated --require-virtualenv --verbose --quiet --no-input"
        " --no-cache-dir --disable-pip-version-check --no-color --no-python-version-warning"
    ),
    "gh": words("--help --version"),
    "go": frozenset(),
    "systemctl": words(
        "--user --system --global --no-pager --no-legend --all --full --now --quiet --help --version"
        " --no-block --no-ask-password --force --failed --plain --recursive --runtime --wait"
    ),
    "terraform": words("--help --version"),
    "aws": words(
        "--debug --no-verify-ssl --no-paginate --no-sign-request --no-cli-pager --no-cli-auto-prompt"
        " --version"
    ),
}
"""Global options without a value. Another long one might take the next word: that is doubt."""

GIT_COMMANDS = words(
    "add am annotate apply archive backfill bisect blame branch bugreport bundle cat-file check-attr"
    " check-ignore check-mailmap check-ref-format checkout checkout-index cherry cherry-pick citool clean"
    " clone column commit commit-graph commit-tree config count-objects credential credential-cache"
    " credential-store daemon describe diagnose diff diff-files diff-index diff-pairs diff-tree difftool"
    " fast-export fast-import fetch fetch-pack filter-branch fmt-merge-msg for-each-ref for-each-repo"
    " format-patch fsck fsmonitor--daemon gc get-tar-commit-id gitk grep gui hash-object help hook"
    " http-backend http-fetch http-push imap-send index-pack init init-db instaweb interpret-trailers lfs"
    " log ls-files ls-remote ls-tree mailinfo mailsplit maintenance merge merge-base merge-file merge-index"
    " merge-octopus merge-one-file merge-ours merge-recursive merge-resolve merge-subtree merge-tree"
    " mergetool mktag mktree multi-pack-index mv name-rev notes p4 pack-objects pack-redundant pack-refs"
    " patch-id prune prune-packed pull push quiltimport range-diff read-tree rebase receive-pack reflog"
    " refs remote repack replace replay request-pull rerere reset restore rev-list rev-parse revert rm"
    " send-email send-pack shell shortlog show show-branch show-index show-ref sparse-checkout stage stash"
    " status stripspace submodule subtree svn switch symbolic-ref tag unpack-file unpack-objects"
    " update-index update-ref update-server-info upload-archive upload-pack var verify-commit verify-pack"
    " verify-tag version whatchanged worktree write-tree"
)
"""Git's own commands (2.39 to 2.51, and lfs). Another word is an alias or a program: it may do anything."""

_ALIASES = {"pip3": "pip", "pip2": "pip", "tofu": "terraform", "nerdctl": "docker"}


def subcommand(argv: Sequence[str]) -> str:
    """The first word after the program's global options; "" where the program has none or is not known."""
    if not argv:
        return ""
    program = argv[0].rpartition("/")[2]
    program = _ALIASES.get(program, program)
    if program not in WITH_VALUE:
        return ""
    rest = split_global_options(program, argv)[1]
    return rest[0] if rest else ""


def is_doubtful(argv: Sequence[str]) -> bool:
    """Whether it is not certain which subcommand runs, or what it does: an unknown option or a git alias."""
    program = argv[0].rpartition("/")[2] if argv else ""
    program = _ALIASES.get(program, program)
    if program not in WITH_VALUE:
        return False
    options, rest = split_global_options(program, argv)
    known = WITH_VALUE[program] | KNOWN_FLAGS[program]
    before = argv[1 : len(argv) - len(rest)]
    if any(
        name.startswith("--") and name not in known and f"{name}={value}" not in before
        for name, value in options
    ):
        return True
    return program == "git" and bool(rest) and rest[0] not in GIT_COMMANDS


def split_global_options(program: str, argv: Sequence[str]) -> tuple[list[tuple[str, str]], list[str]]:
    """The global options as (name, value) pairs, and the rest of argv from the subcommand on."""
    with_value = WITH_VALUE[program]
    options: list[tuple[str, str]] = []
    index = 1
    while index < len(argv):
        word = argv[index]
        if word == "--":
            return options, list(argv[index + 1 :])
        if program == "cargo" and word.startswith("+"):
            index += 1
            continue
        if not word.startswith("-") or word == "-":
            return options, list(argv[index:])
        index += 1
        if word in with_value:
            options.append((word, argv[index] if index < len(argv) else ""))
            index += 1
        elif word.startswith("--"):
            name, _, value = word.partition("=")
            options.append((name, value))
        elif word[:2] in with_value and len(word) > 2:
            options.append((word[:2], word[2:].removeprefix("=")))
        else:
            options.append((word, ""))
    return options, []
