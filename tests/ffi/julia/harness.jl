# Runs claims and counts them, with lines and a summary in the manner of Unity's.
#
#   claim("test_a_sentence_that_is_the_claim") do ... @test ... end
#   finish()
using Test

mutable struct Claim <: Test.AbstractTestSet
    passes::Int
    failures::Int
end
Claim(description; options...) = Claim(0, 0)

Test.record(c::Claim, ::Test.Pass) = (c.passes += 1; nothing)
function Test.record(c::Claim, result::Union{Test.Fail,Test.Error})
    c.failures += 1
    println(result)
end
Test.finish(c::Claim) = c

const TALLY = [0, 0] # claims, failures

function claim(f, name)
    result = @testset Claim "claim" begin
        f()
    end
    # A claim that tested nothing has not shown anything.
    good = result.failures == 0 && result.passes > 0
    TALLY .+= (1, !good)
    println(basename(PROGRAM_FILE), ":", name, good ? ":PASS" : ":FAIL")
    flush(stdout)
end

function finish()
    println(TALLY[1], " Tests ", TALLY[2], " Failures 0 Ignored")
    exit(TALLY[2] > 0 || TALLY[1] == 0 ? 1 : 0)
end

"The exception that f throws, or nothing."
function thrown(f)
    try
        f()
    catch e
        return e
    end
    return nothing
end

"Is it an exception of this type whose text has all these words?"
function refuses(f, T, words...)
    e = thrown(f)
    return e isa T && all(w -> occursin(w, sprint(showerror, e)), words)
end

same_bits(a, b) = size(a) == size(b) && all(reinterpret.(Unsigned, a) .== reinterpret.(Unsigned, b))
