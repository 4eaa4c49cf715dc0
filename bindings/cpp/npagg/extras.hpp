/* Arrays of the caller's in checkpoints, and random numbers: what needs no model. */
#ifndef NPAGG_EXTRAS_HPP
#define NPAGG_EXTRAS_HPP

#include <cstdint>

#include "calls.hpp"
#include "ctx.hpp"
#include "path.hpp"

NPAGG_CPP_BEGIN

/* Adds or replaces the array of this name in the checkpoint, as optimiser state. */
template <class A>
outcome<void> save_extra(context &ctx, c_string path, c_string name, const A &array)
{
    const in<A> a(array);
    return detail::done(
        ctx, detail::calls<real_t<A>>::model_save_extra(ctx.get(), path.get(), name.get(),
                                                        detail::count(a.size()), a.data()));
}

/* Reads it; the array must be as long as the one in the file. */
template <class A>
outcome<void> load_extra(context &ctx, c_string path, c_string name, A &&array)
{
    const out<A> a(array);
    return detail::done(
        ctx, detail::calls<real_t<A>>::model_load_extra(ctx.get(), path.get(), name.get(),
                                                        detail::count(a.size()), a.data()));
}

/* Standard normals of a (seed, stream): the same bits everywhere. */
template <class A>
outcome<void> noise_fill(std::uint64_t seed, std::uint64_t stream, A &&array)
{
    const out<A> a(array);
    return detail::finish(detail::status_of(
        detail::calls<real_t<A>>::noise_fill(seed, stream, detail::count(a.size()), a.data()),
        "noise_fill: no array"));
}

/* Uniforms in (0, 1), likewise. */
template <class A>
outcome<void> uniform_fill(std::uint64_t seed, std::uint64_t stream, A &&array)
{
    const out<A> a(array);
    return detail::finish(detail::status_of(
        detail::calls<real_t<A>>::uniform_fill(seed, stream, detail::count(a.size()), a.data()),
        "uniform_fill: no array"));
}

/* Version of the library that is loaded; npagg/version.h has the one compiled against. */
inline const char *version() noexcept
{
    return npagg_version();
}

NPAGG_CPP_END

#endif /* NPAGG_EXTRAS_HPP */
