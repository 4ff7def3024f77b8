# Sends the output of a run from two offsets on, and its status when it has ended. Variables: R (directory of the run),
# A and B (offsets in stdout and stderr).
since() {
    if [ -r "/proc/$1/stat" ]; then
        set -- $(cat "/proc/$1/stat")
        echo "${22}"
    else
        echo 0
    fi
}
is_kept() {
    [ -f "$R/keeper" ] || return 1
    read -r Q Z <"$R/keeper"
    kill -0 "$Q" 2>/dev/null && [ "$(since "$Q")" = "$Z" ]
}
# Sends at most 256 KiB, so that no stream waits for long.
send() {
    size=$(($(wc -c <"$R/$2") - $3))
    [ "$size" -gt 0 ] || { sent=0; return; }
    [ "$size" -le 262144 ] || size=262144
    echo "$1 $size"
    tail -c "+$(($3 + 1))" "$R/$2" | head -c "$size"
    sent=$size
}
H=0.02
sleep $H 2>/dev/null || H=1
V=0
while :; do
    if [ ! -d "$R" ]; then
        echo "G the files of the run were removed"
        exit
    fi
    E=
    [ -f "$R/status" ] && read -r E <"$R/status"
    K=yes
    [ -n "$E" ] || is_kept || K=no
    send O stdout "$A"
    A=$((A + sent))
    moved=$sent
    send E stderr "$B"
    B=$((B + sent))
    moved=$((moved + sent))
    if [ "$moved" -eq 0 ]; then
        if [ -n "$E" ]; then
            echo "X $E"
            exit
        fi
        if [ $K = no ] && [ ! -f "$R/status" ]; then
            V=$((V + 1))
            # The keeper writes its pid within moments of the start.
            [ "$V" -gt 20 ] && { echo "G its keeper there is gone, and left no exit status"; exit; }
            [ "$H" = 1 ] || H=0.2
        fi
        echo . || exit
        sleep $H
        case $H in
        0.02) H=0.05 ;;
        0.05) H=0.1 ;;
        0.1) H=0.2 ;;
        0.2) H=0.3 ;;
        esac
    else
        V=0
        [ "$H" = 1 ] || H=0.02
    fi
done
