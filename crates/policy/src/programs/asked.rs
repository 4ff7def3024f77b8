//! Programs that are asked about whatever their arguments are.

use super::Call;
use crate::decision::Ground;
use crate::judge::Judge;
use crate::names::Names;

/// Programs, and what is said about them. `{}` in a text stands for the program.
struct Asked {
    /// Names of programs; `*` stands for any characters.
    programs: Names<'static>,
    ground: Ground,
    why: &'static str,
    effect: &'static str,
}

const NOT_VISIBLE: &str = "runs code that is not visible here";

const ASKED: [Asked; 12] = [
    Asked {
        programs: Names("let"),
        ground: Ground::UnknownCode,
        why: "a calculation may run commands",
        effect: "may run commands",
    },
    Asked {
        programs: Names("alias unalias enable bind complete compgen compopt mapfile readarray"),
        ground: Ground::UnknownCode,
        why: "it changes the meaning of later words",
        effect: NOT_VISIBLE,
    },
    Asked {
        programs: Names("history fc"),
        ground: Ground::UnknownCode,
        why: "it may run earlier commands",
        effect: NOT_VISIBLE,
    },
    Asked {
        programs: Names("disown suspend logout"),
        ground: Ground::Kill,
        why: "it changes how jobs end",
        effect: "lets a job outlive its task",
    },
    Asked {
        programs: Names(
            "
            dd fdisk sfdisk cfdisk gdisk sgdisk parted wipefs mkswap swapon swapoff mount umount blkdiscard
            hdparm cryptsetup losetup lvcreate lvremove vgremove pvremove zpool zfs mdadm tune2fs resize2fs
            e2fsck fsck fsck.* badblocks mknod debugfs xfs_repair btrfs diskutil mkfs*
        ",
        ),
        ground: Ground::Destroy,
        why: "{} can destroy data",
        effect: "changes disks or devices ({})",
    },
    Asked {
        programs: Names("chown chgrp setfacl chattr setcap"),
        ground: Ground::OtherUser,
        why: "it changes who owns or may use files",
        effect: "changes permissions of files",
    },
    Asked {
        programs: Names("patch sponge ed ex rename mmv vidir"),
        ground: Ground::UnknownCode,
        why: "which files it changes is not visible here",
        effect: "changes files",
    },
    Asked {
        programs: Names(
            "
            zip gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd 7z 7za rar unrar cpio ar pax compress uncompress
            lz4 brotli
        ",
        ),
        ground: Ground::UnknownCode,
        why: "it replaces or unpacks files, or its options run programs",
        effect: "writes or replaces files",
    },
    Asked {
        programs: Names("ssh mosh autossh sshpass"),
        ground: Ground::UnknownCode,
        why: "it runs something on another machine, or here by its options",
        effect: NOT_VISIBLE,
    },
    Asked {
        programs: Names(
            "
            watch parallel entr script strace ltrace gdb lldb perf valgrind flock chroot nsenter unshare
            systemd-run at batch crontab screen tmux expect direnv mise asdf nix-shell nix firejail bwrap proot
            fakeroot dbus-run-session xdg-open open osascript socat start-stop-daemon daemon run-parts hyperfine
            coreutils cgexec numactl setarch linux64 prlimit
        ",
        ),
        ground: Ground::UnknownCode,
        why: "{} runs something else, now or later",
        effect: NOT_VISIBLE,
    },
    Asked {
        programs: Names("pkill killall xkill skill fuser"),
        ground: Ground::Kill,
        why: "it ends processes by name",
        effect: "ends processes",
    },
    Asked {
        programs: Names(
            "
            shutdown reboot halt poweroff init telinit service launchctl rc-service iptables ip6tables nft ufw
            firewall-cmd sysctl modprobe insmod rmmod useradd userdel usermod groupadd passwd chpasswd visudo
            hostnamectl timedatectl localectl loginctl update-alternatives ldconfig setenforce renice ifconfig
            ip route defaults networksetup pm2 supervisorctl forever
        ",
        ),
        ground: Ground::Destroy,
        why: "{} changes the machine or its services",
        effect: "changes the machine or its services",
    },
];

pub(super) fn judge(judge: &mut Judge<'_>, call: &Call<'_>) -> bool {
    let Some(asked) = ASKED.iter().find(|asked| asked.programs.matches(call.name)) else { return false };
    let named = |text: &str| text.replace("{}", call.name);
    judge.ask(asked.ground, &call.part, &named(asked.why), &named(asked.effect));
    true
}
