# Julia trains the tiny model to the bits that C does.
# usage: tiny.sh examples/tiny
. "$SOURCE_ROOT/tests/support/checks.sh"
folder=$SOURCE_ROOT/tests/ffi/julia

bash "$folder/run.sh" "$SOURCE_ROOT/bindings/julia/examples/tiny.jl" >"$WORK/julia"
if [ $? -eq 77 ]; then
    cat "$WORK/julia"
    exit 77
fi
"$1" >"$WORK/c"
check "examples/tiny prints eleven losses" [ "$(grep -c '^step .*loss' "$WORK/c")" -eq 11 ]
check "Julia prints the same losses to the last bit" diff "$WORK/c" "$WORK/julia"
finish
