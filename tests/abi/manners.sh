# A library in somebody's program: no writable globals, nothing that prints, ends the process or
# changes its state.
# usage: manners.sh libnpagg.a
. "$SOURCE_ROOT/tests/support/checks.sh"

writable_globals() {
    nm --format=sysv "$1" | awk -F'|' '
        NF >= 7 {
            gsub(/[ \t]/, "")
            if ($7 ~ /^(\.data|\.bss|\.tdata|\.tbss|\*COM\*|COMMON)/ && $7 !~ /^\.data\.rel\.ro/)
                print $1, "in", $7
        }'
}

forbidden='printf|fprintf|vprintf|vfprintf|dprintf|puts|fputs|putchar|putc|fputc|perror|stdout|stderr'
forbidden+='|abort|exit|_exit|_Exit|quick_exit|atexit|on_exit|__assert_fail|raise|kill|system|fork'
forbidden+='|getenv|secure_getenv|setenv|putenv|environ|setlocale|uselocale|newlocale'
forbidden+='|signal|sigaction|sigprocmask|rand|srand|random|srandom|time|clock'
forbidden+='|fesetround|fesetenv|feupdateenv|feholdexcept|feenableexcept|fedisableexcept'

forbidden_imports() {
    nm --undefined-only --format=posix "$1" | awk 'NF > 1 { print $1 }' | sort -u |
        grep -xE "($forbidden)|__($forbidden)_chk|__($forbidden)"
    true
}

# The checks above must be able to fail.
cat >"$WORK/rude.c" <<'RUDE'
#include <stdio.h>
#include <stdlib.h>
static int calls;
int bare_common[4];
static _Thread_local int per_thread;
static const char *const fixed[] = {"a", "b"};
const char *rude(int i) { if (calls++ + per_thread++ > 3) { printf("%d\n", i); exit(1); } return fixed[i]; }
RUDE
${CC:-cc} -fPIC -O0 -c "$WORK/rude.c" -o "$WORK/rude.o"
sees() { # command word...: its output has exactly these words first on its lines
    diff <("$1" "$WORK/rude.o" | cut -d' ' -f1 | sed 's/\..*//' | sort) <(printf '%s\n' "${@:2}" | sort)
}

check "the search for writable globals finds them" sees writable_globals calls bare_common per_thread
check "the search for forbidden imports finds them" sees forbidden_imports printf exit
check_silent "the library has no writable globals" writable_globals "$1"
check_silent "the library imports nothing that prints, ends or changes the process" \
    forbidden_imports "$1"
finish
