"""The subcommand of programs that have them: `git -C x push` → `push`.

A rule that tests `argv[1] == "push"` is passed by with a global option; `event.subcommand` is not. What
stands here is the data: for each program the global options that take a value in the next argument.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vaultroom.shell.words import words

WITH_VALUE: Mapping[str, frozenset[str]] = {
    "git": words("-C -c --git-dir --work-tree --namespace --super-prefix --config-env --attr-source"),
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
    "pnpm": words("-C --dir -F --filter --filter-prod --loglevel --reporter --registry --prefix --store-dir"),
    "yarn": words("--cwd --cache-folder --registry --modules-folder --global-folder --proxy --https-proxy"),
    "uv": words(
        "--directory --project --config-file --cache-dir --color --python-preference --allow-insecure-host"
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
        "--region --profile --output --query --endpoint-url --ca-bundle --cli-read-timeout --cli-connect-"
        "timeout"
        " --color --cli-binary-format --cli-error-format"
    ),
}

_ALIASES = {"pip3": "pip", "pip2": "pip", "tofu": "terraform", "nerdctl": "docker", "oc": "kubectl"}


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
