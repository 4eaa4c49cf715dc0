# Runs a test of the Python binding with the first interpreter that has the modules it needs;
# without one it is skipped. NPAGG_PYTHON names another interpreter to try first.
# usage: run.sh test.py module...
test=$1
shift
modules=$(IFS=,; echo "$*")
for python in "${NPAGG_PYTHON:-python3}" python3 /usr/bin/python3; do
    if "$python" -c "import $modules" >/dev/null 2>&1; then
        exec "$python" "$test"
    fi
done
echo "no python3 with $modules here"
exit 77
