//! Programs that need approval with any arguments.

use super::Call;
use crate::decision::BuiltinRule::{self, Destroy, Kill, OtherUser, UnknownCode};
use crate::judge::Judge;
use crate::names::Names;
use crate::need;

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

const NOT_VISIBLE: &str = "runs code that cannot be analysed";

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
    asked("let", UnknownCode, "an arithmetic expression can run commands", "may run commands"),
    asked(SHELL_SETTINGS, UnknownCode, "it changes the meaning of later commands", NOT_VISIBLE),
    asked("history fc", UnknownCode, "it can run earlier commands", NOT_VISIBLE),
    asked("disown suspend logout", Kill, "it changes when jobs end", "may keep a job running after its task"),
    asked(DISKS, Destroy, "{} can destroy data", "changes disks or devices ({})"),
    asked(
        "chown chgrp setfacl chattr setcap",
        OtherUser,
        "it changes the owner or the permissions of files",
        "changes permissions of files",
    ),
    asked(
        "patch sponge ed ex rename mmv vidir",
        UnknownCode,
        "the files that it changes cannot be determined",
        "changes files",
    ),
    asked(
        COMPRESSORS,
        UnknownCode,
        "it can replace or extract files, and its options can run programs",
        "writes or replaces files",
    ),
    asked(
        "ssh mosh autossh sshpass",
        UnknownCode,
        "it runs commands on another machine, and its options can run commands here",
        NOT_VISIBLE,
    ),
    asked(LAUNCHERS, UnknownCode, "{} runs another program, now or later", NOT_VISIBLE),
    asked("pkill killall xkill skill fuser", Kill, "it ends processes by name", "ends processes"),
    asked(
        SERVICES,
        Destroy,
        "{} can change the system or its services",
        "changes the system or its services",
    ),
];

pub(super) fn judge(judge: &mut Judge<'_>, call: &Call<'_>) -> bool {
    let Some(asked) = ASKED.iter().find(|asked| asked.programs.matches(call.name)) else { return false };
    let named = |text: &str| text.replace("{}", call.name);
    let (why, effect) = (named(asked.why), named(asked.effect));
    match call.name {
        // It talks to another machine with the keys of the user.
        "ssh" | "mosh" | "autossh" | "sshpass" => {
            judge.ask_for(BuiltinRule::Network, &call.part, &why, &effect, need::remote_repository());
        }
        // All processes of a task end with it.
        "disown" | "suspend" | "logout" => {
            judge.held(asked.builtin, &call.part, &why, &effect, mw_model::Grant::default());
        }
        _ => judge.ask(asked.builtin, &call.part, &why, &effect),
    }
    true
}
