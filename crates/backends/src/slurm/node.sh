# Runs the command on a node, passes signals on, and keeps the wait status. Slurm executes this as the batch script of a job.
# Variables: R (directory of the run), N (its number), L (the file of the lease), M (the mode mask), W (working directory),
# P (program), E (the variable that its processes have in their environment), Q (whether Slurm may run it again).
#
# Other machines may see a new file late. What they wait for is therefore written into files that exist already.
umask 077
# Slurm signals all processes of a job that it ends. This one outlives that to record the end, and knows by it who has ended the command.
O=
for S in HUP INT QUIT ALRM TERM USR1 USR2; do trap "O=\"\$O $S\"" $S; done
trap : URG
K=${SLURM_RESTART_COUNT:-0}
D=$R/a$K
E=$E.$K
# Whether a later run, or a later attempt of this one, has the lease.
is_fenced() {
    read -r A B C <"$L" || return 1
    [ "$A" -gt "$N" ] || { [ "$A" -eq "$N" ] && [ "$B" -gt "$K" ]; }
}
is_fenced && { echo "a later run has the lease"; exit; }
if [ "$K" -gt 0 ] && [ -z "$Q" ]; then echo "it was started before, and may not be started again"; exit; fi
# An attempt that has ended is not repeated, unless Slurm has ended it.
if [ "$K" -gt 0 ] && [ -s "$R/a$((K - 1))/status" ]; then
    read -r A B C <"$R/a$((K - 1))/status"
    [ "$A" = fenced ] || [ -n "$C" ] || { echo "it has ended before"; exit; }
fi
# Only one job per attempt gets past this.
mkdir "$R/claim$K" || exit
[ -d "$D" ] || { mkdir "$D" && : >"$D/stdout" && : >"$D/stderr" && : >"$D/beat" && : >"$D/status"; } || exit
echo "$N $K ${SLURM_JOB_ID:-0} ${SLURMD_NODENAME:-$(uname -n)}" >"$L" || exit
# The attempt before this one may still run on a node that Slurm has lost. It ends itself when it sees the lease.
V=0
while [ "$K" -gt 0 ] && [ ! -s "$R/a$((K - 1))/status" ] && [ $V -lt 15 ]; do V=$((V + 1)); sleep 1; done
cd "$W" 2>/dev/null || { echo "refused the directory $W does not exist on the node; set directory of the back-end, or --cwd" >"$D/status"; exit; }
command -v "$P" >/dev/null 2>&1 || { echo "refused there is no program $P on the node" >"$D/status"; exit; }
if command -v perl >/dev/null 2>&1; then
    # Perl inherits that these signals are ignored; its child does not.
    (
        trap '' HUP INT QUIT ALRM TERM USR1 USR2
        exec perl -e '
            my ($d, $r, $m, $e) = @ARGV;
            my $pid = fork();
            exit 1 unless defined $pid;
            if (!$pid) {
                setpgrp(0, 0);
                ($ENV{$1} = $2) if $e =~ /^(\w+)=(.*)$/;
                $SIG{$_} = "DEFAULT" for qw(HUP INT QUIT ALRM TERM USR1 USR2);
                open(STDOUT, ">>", "$d/stdout") && open(STDERR, ">>", "$d/stderr") && open(STDIN, "<", "/dev/null") or exit 126;
                umask oct $m;
                exec "/bin/sh", "$r/command";
                exit 127;
            }
            sub note { open(my $file, ">", "$d/$_[0]") or return; print $file "$_[1]\n"; close($file) }
            note("leader", $pid);
            while (waitpid($pid, 0) != $pid) { last if $! != 4 }
            note("exit", "wait $?");
        ' "$D" "$R" "$M" "$E"
    ) &
else
    (
        trap - HUP INT QUIT ALRM TERM USR1 USR2
        umask "$M"
        export "${E?}"
        exec /bin/sh "$R/command" </dev/null >>"$D/stdout" 2>>"$D/stderr"
    ) &
    echo $! >"$D/leader"
fi
X=$!
# Wakes this shell, even if no signal does.
(trap - HUP INT QUIT ALRM TERM USR1 USR2; while sleep 5 && kill -URG $$; do :; done) >/dev/null 2>&1 &
T=$!
deliver() { /bin/sh "$R/signal" "$D" "$1" "$E" >/dev/null 2>&1 </dev/null; }
F= Y=0 V=0
while :; do
    V=$((V + 1))
    echo "$V" >"$D/beat"
    [ -n "$F" ] || ! is_fenced || { F=yes; deliver 9; }
    G=0
    while read -r S; do
        G=$((G + 1))
        [ $G -le $Y ] || { Y=$G; deliver "$S"; }
    done <"$R/signals"
    wait "$X"
    A=$?
    kill -0 "$X" 2>/dev/null || break
done
kill "$T" 2>/dev/null
[ -f "$D/exit" ] && read -r S <"$D/exit" || S="code $A"
[ -z "$F" ] || S="fenced 9"
# Signals of Slurm come last. A disk that is full may have space later.
while [ -d "$D" ] && ! echo "$S$O" >"$D/status"; do sleep 5; done 2>/dev/null
