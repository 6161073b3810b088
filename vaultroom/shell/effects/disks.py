"""Disks and file systems: programs that write a device, or put one file system over another.

The device itself is what is written; what lay on it is lost with it.
"""

from __future__ import annotations

from collections.abc import Sequence

from vaultroom.shell.effects.declared import Program, analysers, program
from vaultroom.shell.effects.found import Found
from vaultroom.shell.effects.options import Syntax, parse
from vaultroom.shell.effects.touch import Analyse, Effects, Places
from vaultroom.shell.words import words

_MAKERS = (
    "mkfs mkfs.ext2 mkfs.ext3 mkfs.ext4 mke2fs mkfs.xfs mkfs.btrfs mkfs.fat mkfs.vfat mkfs.msdos"
    " mkdosfs mkfs.ntfs mkntfs mkfs.exfat mkfs.f2fs mkfs.minix mkfs.cramfs mkfs.bfs mkfs.jfs"
    " mkfs.reiserfs newfs newfs_apfs newfs_hfs newfs_msdos mkswap"
)

_TABLE: dict[str, Program] = {
    _MAKERS: program("w", other_values="type label uuid"),
    "sfdisk fdisk cfdisk gdisk sgdisk cgdisk": program(
        "w",
        flags="wipe wipe-partitions",
        doubts="load-backup",
        values={"load-backup": "r", "backup": "w"},
        only_reads="list l dump d print p verify V show-size s list-types json J",
    ),
    "wipefs": program("w", short={"a": "all"}, short_values="ot", only_reads="no-act n"),
    "blkdiscard hdparm fstrim badblocks": program("w", short_values="olpbcti"),
    "tune2fs e2label resize2fs e2fsck xfs_repair xfs_growfs btrfstune ntfsresize xfs_admin": program("w"),
    "fsck fsck.ext4 fsck.ext3 fsck.ext2 fsck.vfat fsck.xfs": program("w", only_reads="N"),
    "swapon swapoff": program("w", other_values="priority"),
    "partprobe kpartx blockdev": program("w"),
    "umount": program("w", short_values="tO", flags="all lazy force recursive types read-only detach-loop"),
    "pvcreate pvremove vgcreate vgremove lvremove vgextend vgreduce lvresize lvreduce": program("w"),
    "mdadm": program("w"),
    "nvme": program("w", skip=1),
}


def _parted(argv: Sequence[str], places: Places) -> Effects:
    found = Found(places)
    parsed = parse(
        argv[1:],
        Syntax(
            short={"l": "list"},
            short_values="a",
            flags=words("list script machine help"),
            values=words("align"),
        ),
    )
    for device in parsed.operands[:1]:
        if parsed.operands[1:2] in (["print"], ["unit"]) and "rm" not in parsed.operands:
            found.read(device)
        if (
            set(parsed.operands[1:]) - {"print", "unit", "s", "MB", "GB", "MiB", "GiB", "free", "all"}
            or not parsed.operands[1:]
        ):
            found.write(device)
    return found.effects()


_MOUNT = Syntax(
    short={"t": "types", "o": "options", "r": "read-only", "B": "bind", "R": "rbind", "M": "move", "a": "all",
           "T": "fstab", "L": "label", "U": "uuid"},
    short_values="toTLUON",
    flags=words("all bind rbind move read-only verbose fake make-private make-shared make-slave mkdir"),
    values=words("types options fstab label uuid source target namespace target-prefix options-source"),
)  # fmt: skip


def _mount(argv: Sequence[str], places: Places) -> Effects:
    """The source is read (written too unless mounted read-only), and the mount point hidden by it."""
    found = Found(places)
    parsed = parse(argv[1:], _MOUNT)
    found.read_all(parsed.values_of("fstab"))
    options = [option for value in parsed.values_of("options") for option in value.split(",")]
    sources = parsed.values_of("source")
    targets = parsed.values_of("target")
    operands = list(parsed.operands)
    if operands and not sources and len(operands) > 1:
        sources, operands = operands[:1], operands[1:]
    for source in sources:
        if "/" not in source:
            continue  # proc, tmpfs, overlay: the name means nothing
        host, colon, _ = source.partition(":")
        if source.startswith("//"):
            found.host(source[2:].partition("/")[0], 445)
        elif colon and "/" not in host:
            found.host(source.rpartition(":/")[0] if host.startswith("[") else host, 2049)
        else:
            found.read(source, None)
            if not parsed.has("read-only") and "ro" not in options:
                found.write(source, None)
    for option in options:
        name, _, value = option.partition("=")
        if name in ("upperdir", "workdir") and value:
            found.write(value, True)
        elif name == "lowerdir":
            for folder in value.split(":"):
                found.read(folder, True)
    for target in targets + operands:
        found.write(target, True)
    return found.effects()


def _loop_device(argv: Sequence[str], places: Places) -> Effects:
    found = Found(places)
    parsed = parse(
        argv[1:],
        Syntax(
            short={"f": "find", "r": "read-only", "d": "detach", "D": "detach-all", "a": "all", "l": "list"},
            short_values="ob",
            flags=words("find read-only detach-all all list show partscan"),
            values=words("offset sizelimit sector-size associated output detach set-capacity"),
        ),
    )
    for operand in parsed.operands + parsed.values_of("detach"):
        found.read(operand)
        if not parsed.has("read-only", "list", "all"):
            found.write(operand)
    return found.effects()


_CRYPT_ACTS = words("luksFormat luksErase erase luksAddKey luksRemoveKey luksKillSlot luksChangeKey reencrypt"
                    " luksHeaderRestore resize refresh luksOpen open luksUUID config convert")  # fmt: skip


def _cryptsetup(argv: Sequence[str], places: Places) -> Effects:
    found = Found(places)
    parsed = parse(
        argv[1:],
        Syntax(
            short={"d": "key-file", "c": "cipher", "s": "key-size", "h": "hash", "y": "verify"},
            short_values="dcshSil",
            values=words("key-file cipher key-size hash header header-backup-file type label key-slot"),
        ),
    )
    found.read_all(parsed.values_of("key-file") + parsed.values_of("header"))
    backup = parsed.values_of("header-backup-file")
    action = parsed.operands[0] if parsed.operands else ""
    for name in backup:
        (found.write if action == "luksHeaderBackup" else found.read)(name)
    for device in parsed.operands[1:2]:
        (found.write if action in _CRYPT_ACTS else found.read)(device)
    return found.effects()


def _disk_utility(argv: Sequence[str], places: Places) -> Effects:
    """macOS: `diskutil eraseDisk JHFS+ name disk2`. A bare `disk2` means its device."""
    found = Found(places)
    action = argv[1].lower() if len(argv) > 1 else ""
    if action and action not in ("list", "info", "activity", "listfilesystems", "apfs"):
        for word in argv[2:]:
            if word.startswith("/"):
                found.write(word, True)
            elif word.startswith(("disk", "rdisk")) and word.lstrip("rdisk")[:1].isdigit():
                found.write(f"/dev/{word}")
    elif action == "apfs":
        found.doubt()
    return found.effects()


def _pools(argv: Sequence[str], places: Places) -> Effects:
    """zpool and zfs name pools, not paths; what they destroy cannot be told."""
    found = Found(places)
    if argv[1:2] and argv[1] in (
        "destroy",
        "labelclear",
        "create",
        "rollback",
        "split",
        "remove",
        "detach",
        "add",
    ):
        found.doubt()
        for word in argv[2:]:
            if word.startswith("/dev/"):
                found.write(word)
    return found.effects()


PROGRAMS: dict[str, Analyse] = analysers(_TABLE) | {
    "parted": _parted,
    "mount": _mount,
    "losetup": _loop_device,
    "cryptsetup": _cryptsetup,
    "diskutil": _disk_utility,
    "zpool": _pools,
    "zfs": _pools,
}
