# Runs a Julia program with the package of this tree and the library of this build.
# usage: run.sh program.jl arguments...
julia=$(bash "$SOURCE_ROOT/scripts/install-deps.sh" --julia)
if [ -z "$julia" ]; then
    echo "no Julia here"
    echo "1 Tests 0 Failures 1 Ignored"
    exit 77
fi
# A depot of its own: nothing of the user's is read or written.
export JULIA_DEPOT_PATH="$BUILD_ROOT/julia-depot"
export JULIA_LOAD_PATH="$SOURCE_ROOT/bindings/julia:@stdlib"
export JULIA_NUM_THREADS=2
exec "$julia" --startup-file=no --color=no "$@"
