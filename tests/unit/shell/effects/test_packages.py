"""Package managers."""

from __future__ import annotations

import pytest

from tests.kit.effects import foreseen, rows

TABLE = """
pip install x                               →
pip install -r r.txt                        → r:/w/r.txt
pip install -r https://h/r.txt              → n:h:443
pip install --index-url https://i/s -t /x y → n:i:443 w:/x/**
pip install -ihttps://i/s y                 → n:i:443
pip install --extra-index=https://i/s y     → n:i:443
pip --proxy p:1 install y                   → n:p:1
pip install git+https://github.com/a/b      → n:github.com:443
pip install git+ssh://git@h/a/b             → n:h:22
pip install "n @ https://h/n.whl"           → n:h:443
pip install ./x                             → r:/w/x/**
pip install -e .                            → r:/w/**
pip install x.whl                           → r:/w/x.whl/**
pip download -d /d x                        → w:/d/**
npm install x                               →
npm install --registry=https://r            → n:r:443
npm i github:a/b                            → n:github.com:443
npm i https://h/x.tgz                       → n:h:443
npm i git+https://h/x                       → n:h:443
npm i git@h:a/b                             → n:h:22
npm --prefix /d i x                         → w:/d/**
yarn add x --modules-folder /m              → w:/m/**
pnpm add file:../x                          → r:/x/**
cargo install x                             →
cargo install --git https://g/x --root /r   → n:g:443 w:/r/**
cargo build --target-dir /t                 → w:/t/**
cargo --config x build                      → !
go build -o /x/y .                          → w:/x/y r:/w/**
go install h/x@latest                       →
go test -exec sh .                          → ! r:/w/**
gem install x -s https://g -i /d            → n:g:443 w:/d/**
apt-get -o X=y install z                    → !
dpkg -i x.deb                               → r:/w/x.deb
"""


@pytest.mark.parametrize(("line", "expected"), rows(TABLE))
def test_effects(line: str, expected: str) -> None:
    assert foreseen(line) == expected
