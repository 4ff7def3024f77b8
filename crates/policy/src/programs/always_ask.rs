//! Programs that are asked about whatever their arguments are.

use super::Call;
use crate::decision::BuiltinRule::{self, Destroy, Kill, OtherUser, UnknownCode};
use crate::judge::Judge;
use crate::names::Names;

/// Programs that always need approval, with the reason and the effect. `{}` in a text stands for the program.
struct AlwaysAsked {
    /// Names of programs; `*` stands for any characters.
    programs: Names<'static>,
    builtin: BuiltinRule,
    why: &'static str,
    effect: &'static str,
}

const fn asked(
    programs: &'static str,
    builtin: BuiltinRule,
    why: &'static str,
    effect: &'static str,
) -> AlwaysAsked {
    AlwaysAsked { programs: Names(programs), builtin, why, effect }
}

const NOT_VISIBLE: &str = "runs code that is not visible here";

const SHELL_SETTINGS: &str = "alias unalias enable bind complete compgen compopt mapfile readarray";
const DISKS: &str = "
    dd fdisk sfdisk cfdisk gdisk sgdisk parted wipefs mkswap swapon swapoff mount umount blkdiscard hdparm
    cryptsetup losetup lvcreate lvremove vgremove pvremove zpool zfs mdadm tune2fs resize2fs e2fsck fsck
    fsck.* badblocks mknod debugfs xfs_repair btrfs diskutil mkfs*
";
const COMPRESSORS: &str = "
    zip gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd 7z 7za rar unrar cpio ar pax compress uncompress lz4
    brotli
";
const LAUNCHERS: &str = "
    watch parallel entr script strace ltrace gdb lldb perf valgrind flock chroot nsenter unshare systemd-run
    at batch crontab screen tmux expect direnv mise asdf nix-shell nix firejail bwrap proot fakeroot
    dbus-run-session xdg-open open osascript socat start-stop-daemon daemon run-parts hyperfine coreutils
    cgexec numactl setarch linux64 prlimit
";
const SERVICES: &str = "
    shutdown reboot halt poweroff init telinit service launchctl rc-service iptables ip6tables nft ufw
    firewall-cmd sysctl modprobe insmod rmmod useradd userdel usermod groupadd passwd chpasswd visudo
    hostnamectl timedatectl localectl loginctl update-alternatives ldconfig setenforce renice ifconfig ip
    route defaults networksetup pm2 supervisorctl forever
";

const ASKED: [AlwaysAsked; 12] = [
    asked("let", UnknownCode, "a calculation may run commands", "may run commands"),
    asked(SHELL_SETTINGS, UnknownCode, "it changes the meaning of later words", NOT_VISIBLE),
    asked("history fc", UnknownCode, "it may run earlier commands", NOT_VISIBLE),
    asked("disown suspend logout", Kill, "it changes how jobs end", "lets a job outlive its task"),
    asked(DISKS, Destroy, "{} can destroy data", "changes disks or devices ({})"),
    asked(
        "chown chgrp setfacl chattr setcap",
        OtherUser,
        "it changes who owns or may use files",
        "changes permissions of files",
    ),
    asked(
        "patch sponge ed ex rename mmv vidir",
        UnknownCode,
        "which files it changes is not visible here",
        "changes files",
    ),
    asked(
        COMPRESSORS,
        UnknownCode,
        "it replaces or unpacks files, or its options run programs",
        "writes or replaces files",
    ),
    asked(
        "ssh mosh autossh sshpass",
        UnknownCode,
        "it runs something on another machine, or here by its options",
        NOT_VISIBLE,
    ),
    asked(LAUNCHERS, UnknownCode, "{} runs something else, now or later", NOT_VISIBLE),
    asked("pkill killall xkill skill fuser", Kill, "it ends processes by name", "ends processes"),
    asked(SERVICES, Destroy, "{} changes the machine or its services", "changes the machine or its services"),
];

pub(super) fn judge(judge: &mut Judge<'_>, call: &Call<'_>) -> bool {
    let Some(asked) = ASKED.iter().find(|asked| asked.programs.matches(call.name)) else { return false };
    let named = |text: &str| text.replace("{}", call.name);
    judge.ask(asked.builtin, &call.part, &named(asked.why), &named(asked.effect));
    true
}
