# Runs the command, keeps its output and its wait status, and ends it when a later run has the lease.
# Arguments: directory of the run, its number, the file of the lease, the task, the mode mask.
R=$1 N=$2 L=$3 I=$4 M=$5
since() {
    if [ -r "/proc/$1/stat" ]; then
        set -- $(cat "/proc/$1/stat")
        echo "${22}"
    else
        echo 0
    fi
}
echo "$$ $(since $$)" >"$R/keeper.new" && mv "$R/keeper.new" "$R/keeper" || exit 1
umask "$M"
exec >/dev/null 2>&1
if command -v perl >/dev/null 2>&1; then
    exec perl -e '
        my ($r, $n, $l, $task, @command) = @ARGV;
        my $pid = fork();
        exit 1 unless defined $pid;
        if (!$pid) {
            setpgrp(0, 0);
            open(STDOUT, ">>", "$r/stdout") && open(STDERR, ">>", "$r/stderr") or exit 126;
            exec { $command[0] } @command;
            exit 127;
        }
        sub note {
            my ($name, $text) = @_;
            umask 077;
            open(my $file, ">", "$r/$name.new") or return;
            print $file "$text\n";
            close($file) && rename("$r/$name.new", "$r/$name");
        }
        note("leader", $pid);
        my $fenced = 0;
        $SIG{ALRM} = sub {
            my $lease = 0;
            if (open(my $file, "<", $l)) { $lease = <$file>; close($file) }
            if ($lease > $n) { $fenced = 1; kill("KILL", -$pid); kill("KILL", $pid) }
            alarm 2;
        };
        alarm 2;
        while (waitpid($pid, 0) != $pid) { last if $! != 4 }
        my $status = $?;
        alarm 0;
        note("status", $fenced ? "fenced $status" : "wait $status");
    ' "$R" "$N" "$L" "$I" /bin/sh "$R/command"
fi
/bin/sh "$R/command" >>"$R/stdout" 2>>"$R/stderr" &
P=$!
umask 077
echo "$P" >"$R/leader.new" && mv "$R/leader.new" "$R/leader"
(
    while sleep 2 && kill -0 "$P"; do
        read -r A <"$L" && [ "$A" -gt "$N" ] && : >"$R/fenced" && kill -9 "$P"
    done
) &
wait "$P"
A=$?
if [ -f "$R/fenced" ]; then echo "fenced 9"; else echo "code $A"; fi >"$R/status.new"
mv "$R/status.new" "$R/status"
