# Sends a signal to all processes of a run. Variables: R (directory of the run), G (number of the signal), E (the variable
# that its processes have in their environment).
marked() {
    if printf 'a\0b\0' | grep -qxzF b 2>/dev/null; then
        grep -lsxzF "$E" /proc/[0-9]*/environ
    else
        for file in /proc/[0-9]*/environ; do
            tr '\0' '\n' <"$file" 2>/dev/null | grep -qxF "$E" && echo "$file"
        done
    fi 2>/dev/null
}
# The process group of a process.
group_of() {
    read -r stat <"/proc/$1/stat" || return
    # After the name, which may contain anything: state, parent, group.
    set -- ${stat##*) }
    echo "$3"
} 2>/dev/null
deliver() {
    found=
    group=none
    if [ -f "$R/leader" ] && [ ! -s "$R/status" ]; then
        read -r leader <"$R/leader"
        if kill -"$G" -- "-$leader" 2>/dev/null; then group=$leader; else kill -"$G" "$leader" 2>/dev/null; fi
    fi
    for file in $(marked); do
        pid=${file#/proc/}
        pid=${pid%/environ}
        # Each process gets the signal once: many programs take a second SIGINT as "at once".
        [ "$leader" = "$pid" ] || [ "$(group_of "$pid")" = "$group" ] || kill -"$G" "$pid" 2>/dev/null
        found=yes
    done
}
leader=
# A run that has just been started may have no process yet.
count=0
while [ ! -f "$R/leader" ] && [ ! -s "$R/status" ] && [ -d "$R" ] && [ $count -lt 30 ]; do
    count=$((count + 1))
    sleep 0.1 2>/dev/null || sleep 1
done
deliver
if [ "$G" = 9 ]; then
    count=0
    while [ -n "$found" ] && [ $count -lt 50 ]; do
        sleep 0.1 2>/dev/null || sleep 1
        deliver
        count=$((count + 1))
    done
fi
echo "mw sent"
