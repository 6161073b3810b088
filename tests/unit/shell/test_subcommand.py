"""The subcommand behind global options."""

from __future__ import annotations

import pytest

from vaultroom.shell import subcommand


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("git push", "push"),
        ("/usr/bin/git -C x push origin", "push"),
        ("git -c a.b=push commit", "commit"),
        ("git --git-dir d --work-tree=t --no-pager push", "push"),
        ("git --git-dir=d -p push", "push"),
        ("git -Cx push", "push"),
        ("git --version", ""),
        ("git", ""),
        ("git -C", ""),
        ("git -- push", "push"),
        ("docker -H tcp://h:1 --context c run -it x", "run"),
        ("docker -Htcp://h:1 run x", "run"),
        ("kubectl -n prod delete pod x", "delete"),
        ("kubectl --namespace=prod delete pod x", "delete"),
        ("npm --prefix d -w pkg publish", "publish"),
        ("pnpm -C d publish", "publish"),
        ("yarn --cwd d npm publish", "npm"),
        ("uv --directory d pip install x", "pip"),
        ("oc -n prod delete pod x", "delete"),
        ("aws --cli-connect-timeout 3 s3 rm x", "s3"),
        ("cargo +nightly --config x publish", "publish"),
        ("pip --proxy p install x", "install"),
        ("pip3 install x", "install"),
        ("gh -R o/r pr merge", "pr"),
        ("go -C d build", "build"),
        ("systemctl --user -H h stop x", "stop"),
        ("podman --url u rm x", "rm"),
        ("helm --kube-context c uninstall x", "uninstall"),
        ("terraform -chdir=d destroy", "destroy"),
        ("aws --profile p --region r s3 rm x", "s3"),
        ("ls push", ""),
    ],
)
def test_subcommand(line: str, word: str) -> None:
    assert subcommand(line.split()) == word


def test_nothing_has_no_subcommand() -> None:
    assert subcommand([]) == ""
