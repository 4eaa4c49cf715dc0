"""
A call that the library refused: `code` is its status, `name` the status' name, `message` what the
library got and what it wanted. After it every object and output array is as it was, except that a
cache given to a forward or backward is empty.
"""
struct NPAggError <: Exception
    code::Int32
    name::String
    message::String
end

Base.showerror(io::IO, e::NPAggError) = print(io, "NPAggError: ", e.message, " (", e.name, ")")

"The name of a status number, such as \"NPAGG_E_ARG\"."
status_name(status::Integer) = unsafe_string(Raw.status_name(status))

"Version of the library that is loaded."
version() = VersionNumber(unsafe_string(Raw.version()))

# For calls that have a context: its text.
function check(ctx, status::Int32)
    status == 0 && return nothing
    throw(NPAggError(status, status_name(status), error_text(ctx)))
end

# For calls that have none: what was asked for.
function check(status::Int32, what, value)
    status == 0 && return nothing
    throw(NPAggError(status, status_name(status), "$what = $value is out of range"))
end
