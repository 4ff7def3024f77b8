# Starts a run unless it was started before. Variables: S (directory for all tasks), I (task), N (run), W (working
# directory), P (program), M (mode mask), C (the command as a script), K (the text of keep.sh).
umask 077
[ -n "$S" ] || S=$HOME/.local/state/meanwhile-tasks
T=$S/$I
R=$T/run-$N
mkdir -p "$T" || { echo "mw refused cannot make the directory $T"; exit; }
L=0
[ -f "$T/lease" ] && read -r L <"$T/lease"
if [ "$L" -gt "$N" ]; then
    echo "mw refused run $L of this task was started there meanwhile"
    exit
fi
if [ -d "$R" ]; then
    echo "mw started $R"
else
    cd "$W" 2>/dev/null || { echo "mw refused the directory $W does not exist there; set directory of the back-end, or --cwd"; exit; }
    command -v "$P" >/dev/null 2>&1 || { echo "mw refused there is no program $P there"; exit; }
    # Earlier runs end themselves when they see a higher number.
    echo "$N" >"$T/lease.$N" && mv "$T/lease.$N" "$T/lease" || { echo "mw refused cannot write to $T"; exit; }
    # Only the process that creates R starts the run. The files are moved in afterwards.
    X=$T/new-$N-$$
    mkdir "$X" && printf %s "$C" >"$X/command" && printf %s "$K" >"$X/keep" && : >"$X/stdout" && : >"$X/stderr" ||
        { rm -rf "$X"; echo "mw refused cannot write to $T"; exit; }
    if mkdir "$R" 2>/dev/null; then
        mv "$X"/* "$R/"
        rmdir "$X"
        if command -v setsid >/dev/null 2>&1; then
            setsid /bin/sh "$R/keep" "$R" "$N" "$T/lease" "$I" "$M" </dev/null >/dev/null 2>&1 &
        else
            nohup /bin/sh "$R/keep" "$R" "$N" "$T/lease" "$I" "$M" </dev/null >/dev/null 2>&1 &
        fi
    else
        rm -rf "$X"
    fi
    echo "mw started $R"
fi
