# README.md shows the program that is there, and what it prints.
# usage: readme.sh [the built program]
. "$SOURCE_ROOT/tests/support/checks.sh"
program=${1:+$(realpath "$1")}
cd "$SOURCE_ROOT" || exit 1

block() { # language
    awk -v fence="\`\`\`$1" '$0 == fence { on = 1; next } /^```$/ { on = 0 } on' README.md
}

check "the program in README.md is examples/aggregate.c" diff <(block c) examples/aggregate.c
if [ -n "$program" ]; then
    check "README.md shows what it prints" diff <(block text) <("$program")
fi
finish
