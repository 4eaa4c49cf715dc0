# clang-format 14 has the last word on layout; other versions differ in details.
. "$SOURCE_ROOT/tests/support/checks.sh"
cd "$SOURCE_ROOT" || exit 1

formatter=$(command -v clang-format-14 || command -v clang-format)
if ! "${formatter:-false}" --version 2>/dev/null | grep -q 'version 14\.'; then
    echo "no clang-format 14 here"
    echo "1 Tests 0 Failures 1 Ignored"
    exit 77
fi

for folder in include lib tests examples bindings bench; do
    mapfile -d '' files < <(find "$folder" -regex '.*\.\([ch]\|[ch]pp\)' -print0 | sort -z)
    check "$folder/ is formatted" "$formatter" --dry-run --Werror "${files[@]}"
done
finish
