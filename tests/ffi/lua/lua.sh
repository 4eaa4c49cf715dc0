# docs/bindings.md shows the LuaJIT program that is there; it prints what the C program prints, and
# declares functions as the headers do.
# usage: lua.sh examples/aggregate
. "$SOURCE_ROOT/tests/support/checks.sh"
program=$SOURCE_ROOT/examples/lua/aggregate.lua

block() { # language
    awk -v fence="\`\`\`$1" '$0 == fence { on = 1; next } /^```$/ { on = 0 } on' \
        "$SOURCE_ROOT/docs/bindings.md"
}

# Declarations of functions as one line each: neither line breaks nor names of types matter.
declarations() {
    tr '\n' ' ' | sed 's/;/;\n/g' | sed -nE 's/ +/ /g; s/.*((int32_t|int64_t|void|const char \*) ?\*?npagg_\w+\(.*\);).*/\1/p' |
        sed 's/NPAGG_API //; s/npagg_status/int32_t/; s/const void \*vmp/const npagg_vmp *vmp/' | sort
}

same_declarations() {
    sed 's/npagg_status/int32_t/' "$SOURCE_ROOT"/include/npagg/*.h | declarations >"$WORK/headers"
    sed -n '/ffi.cdef/,/^]]/p' "$program" | declarations >"$WORK/cdef"
    [ "$(wc -l <"$WORK/cdef")" -ge 15 ] || return
    ! grep -vxFf "$WORK/headers" "$WORK/cdef"
}

check "docs/bindings.md shows examples/lua/aggregate.lua" diff <(block lua) "$program"
check "it declares functions as the headers do" same_declarations
if ! command -v luajit >/dev/null; then
    echo "no LuaJIT here"
    echo "$((checks + 1)) Tests $failures Failures 1 Ignored"
    exit $((failures > 0 ? 1 : 77))
fi
check "it prints what examples/aggregate prints" diff <("$1") <(luajit "$program")
check "it runs without the just-in-time compiler too" diff <("$1") <(luajit -j off "$program")
sed 's/reals(5, 0.1,/reals(5, -0.5,/' "$program" >"$WORK/bad.lua"
luajit "$WORK/bad.lua" >"$WORK/out" 2>&1
check "an error ends it with status 1, by no signal" [ $? -eq 1 ]
check "an error has the text of the library" grep -F 'v[0,0] = -0.5, want > 0' "$WORK/out"
finish
