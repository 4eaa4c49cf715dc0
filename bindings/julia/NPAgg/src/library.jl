# Where the library is, and where its functions are.

"A function of the library; its address is looked up when it is first called."
mutable struct Slot
    name::Symbol
    address::Ptr{Cvoid}
end

# The version of the ABI: before 1.0 the minor number counts its breaks.
const ABI = "0.1"

const SLOTS = Slot[]
const LIBRARY = Ref{Ptr{Cvoid}}(C_NULL)

# The file beside this package that `meson install` writes: one line, the path of the library,
# relative to the file's folder unless absolute.
const PATH_FILE = joinpath(@__DIR__, "..", "deps", "library")

function installed_path()
    isfile(PATH_FILE) || return nothing
    path = strip(read(PATH_FILE, String))
    return normpath(joinpath(dirname(PATH_FILE), path))
end

# What to give to the loader, best first: NPAGG_LIBRARY alone if it is set, else the path set at
# installation if there is a file, else names that the loader looks for.
function candidates()
    path = get(ENV, "NPAGG_LIBRARY", "")
    isempty(path) || return [path]
    path = installed_path()
    path !== nothing && isfile(path) && return [path]
    return [Sys.isapple() ? "libnpagg.$ABI.dylib" : "libnpagg.so.$ABI", "libnpagg"]
end

function open_library()
    tried = String[]
    for name in candidates()
        try
            LIBRARY[] = Libdl.dlopen(name)
            return check_version()
        catch e
            e isa ErrorException || rethrow()
            push!(tried, e.msg)
        end
    end
    error("NPAgg found no libnpagg: $(join(tried, "; ")). " *
          "Set ENV[\"NPAGG_LIBRARY\"] to the path of the shared library before `using NPAgg`.")
end

function check_version()
    got = unsafe_string(ccall(Libdl.dlsym(LIBRARY[], :npagg_version), Cstring, ()))
    startswith(got, "$ABI.") || error("NPAgg wants libnpagg $ABI, $(library_path()) is $got")
    return nothing
end

function address(slot::Slot)
    if slot.address == C_NULL
        slot.address = Libdl.dlsym(LIBRARY[], slot.name)
    end
    return slot.address
end

"Path of the library that is loaded."
library_path() = Libdl.dlpath(LIBRARY[])
