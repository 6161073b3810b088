"""Disks."""

from __future__ import annotations

import pytest

from tests.kit.effects import foreseen, rows

TABLE = """
mkfs.ext4 -F /dev/sda1                                      → w:/dev/sda1
mkfs -t ext4 /dev/sda1                                      → w:/w/ext4 w:/dev/sda1
mkswap /dev/sda2                                            → w:/dev/sda2
fdisk /dev/sda                                              → w:/dev/sda
fdisk -l /dev/sda                                           →
sfdisk --dump /dev/sda                                      →
wipefs -a /dev/sda                                          → w:/dev/sda
wipefs -n /dev/sda                                          →
parted -s /dev/sda mklabel gpt                              → w:/dev/sda
parted /dev/sda print                                       → r:/dev/sda
blkdiscard /dev/sda                                         → w:/dev/sda
mount /dev/sda1 /mnt                                        → r:/dev/sda1/** w:/dev/sda1/** w:/mnt/**
mount -o ro /dev/sda1 /mnt                                  → r:/dev/sda1/** w:/mnt/**
mount -t tmpfs none /mnt                                    → w:/mnt/**
mount -B /a /b                                              → r:/a/** w:/a/** w:/b/**
mount --bind /a /b                                          → r:/a/** w:/a/** w:/b/**
mount h:/x /mnt                                             → n:h:2049 w:/mnt/**
mount -t overlay o -o lowerdir=/l,upperdir=/u,workdir=/k /m → r:/l/** w:/u/** w:/k/** w:/m/**
umount /mnt                                                 → w:/mnt
losetup -f img                                              → r:/w/img w:/w/img
losetup -d /dev/loop0                                       → r:/dev/loop0 w:/dev/loop0
cryptsetup luksFormat /dev/sda1                             → w:/dev/sda1
cryptsetup luksDump /dev/sda1                               → r:/dev/sda1
diskutil eraseDisk JHFS+ x disk2                            → w:/dev/disk2
diskutil list                                               →
zpool destroy tank                                          → !
lvremove -f vg/lv                                           → w:/w/vg/lv
dd if=/dev/zero of=/dev/sda                                 → r:/dev/zero w:/dev/sda
"""


@pytest.mark.parametrize(("line", "expected"), rows(TABLE))
def test_effects(line: str, expected: str) -> None:
    assert foreseen(line) == expected
