"""docker, podman, kubectl, helm."""

from __future__ import annotations

import pytest

from tests.kit.effects import foreseen, rows

TABLE = """
docker run alpine ls -v /y:/z                        →
docker run --rm -it -v /:/host alpine                → r://** w://**
docker run -v/a:/b:ro alpine                         → r:/a/**
docker run --volume=./a:/b alpine                    → r:/w/a/** w:/w/a/**
docker run -v vol:/x alpine                          →
docker run -v /x alpine                              →
docker run -v ~/x:/y alpine                          → r:/h/x/** w:/h/x/**
docker run --mount type=bind,src=/etc,dst=/e,ro a    → r:/etc/**
docker run --mount type=bind,source=/etc,target=/e a → r:/etc/** w:/etc/**
docker run --mount source=vol,target=/e a            →
docker run --foo bar -v /etc:/e:ro a                 → r:/etc/**
docker run -itv /a:/b a                              → r:/a/** w:/a/**
docker run --env-file .env a                         → r:/w/.env
docker run --privileged a                            → !
docker run --pid=host a                              → !
docker run --device /dev/sda a                       → r:/dev/sda w:/dev/sda
docker container run -v /a:/b x                      → r:/a/** w:/a/**
docker -H tcp://h:2375 run -v /a:/b x                → n:h:2375 r:/a/** w:/a/**
docker -H ssh://h ps                                 → n:h:22
docker create -v /a:/b x                             → r:/a/** w:/a/**
docker ps                                            →
docker cp c:/etc/passwd ./x                          → w:/w/x/**
docker cp a c:/b                                     → r:/w/a/**
docker build -f D -t x .                             → r:/w/** r:/w/D
docker build https://h/x.git                         → n:h:443
docker buildx build -o out .                         → r:/w/** w:/w/out/**
docker push reg.example:5000/x                       → n:reg.example:5000
docker pull alpine                                   →
docker login reg.example                             → n:reg.example:443
docker save -o f x                                   → w:/w/f
docker load -i f                                     → r:/w/f
docker compose -f c.yml up                           → ! r:/w/c.yml
podman run -v /a:/b x                                → r:/a/** w:/a/**
kubectl cp ns/pod:/x y                               → w:/w/y/**
kubectl cp y pod:/x                                  → r:/w/y/**
kubectl apply -f f                                   → r:/w/f/**
kubectl apply -f https://h/x                         → n:h:443
kubectl -s https://h get pods                        → n:h:443
kubectl create secret generic s --from-file=k=f      → r:/w/f/**
helm install x oci://h/y                             → n:h:443
helm upgrade -f v.yaml x ./c                         → r:/w/v.yaml r:/w/c/**
"""


@pytest.mark.parametrize(("line", "expected"), rows(TABLE))
def test_effects(line: str, expected: str) -> None:
    assert foreseen(line) == expected
