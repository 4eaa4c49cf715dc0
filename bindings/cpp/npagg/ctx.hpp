/* Contexts and caches, as npagg/ctx.h. One context per thread; a cache likewise. */
#ifndef NPAGG_CTX_HPP
#define NPAGG_CTX_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include <npagg/ctx.h>

#include "handle.hpp"
#include "sizes.hpp"

NPAGG_CPP_BEGIN

namespace detail
{

/* Blocks from a std::pmr::memory_resource, or what allocates like one. */
template <class R>
auto take(R &resource, std::size_t size, int)
    -> decltype(static_cast<void *>(resource.allocate(size, alignof(std::max_align_t))))
{
    return resource.allocate(size, alignof(std::max_align_t));
}

template <class R>
auto give_back(R &resource, void *p, std::size_t size, int)
    -> decltype(resource.deallocate(p, size, alignof(std::max_align_t)))
{
    return resource.deallocate(p, size, alignof(std::max_align_t));
}

/* Blocks from an allocator of the standard's kind, as std::allocator<anything>. */
template <class A>
using blocks_t = typename std::allocator_traits<A>::template rebind_alloc<std::max_align_t>;

constexpr std::size_t blocks_in(std::size_t size) noexcept
{
    return size / sizeof(std::max_align_t) + (size % sizeof(std::max_align_t) != 0);
}

template <class A>
void *take(A &allocator, std::size_t size, long)
{
    blocks_t<A> blocks(allocator);
    return blocks.allocate(blocks_in(size));
}

template <class A>
void give_back(A &allocator, void *p, std::size_t size, long)
{
    blocks_t<A> blocks(allocator);
    blocks.deallocate(static_cast<std::max_align_t *>(p), blocks_in(size));
}

/* NULL also if the allocator throws. */
template <class A>
void *take_or_null(A &allocator, std::size_t size) noexcept
{
#ifndef __cpp_exceptions
    return take(allocator, size, 0);
#else
    try {
        return take(allocator, size, 0);
    } catch (...) {
        return nullptr;
    }
#endif
}

/* An npagg_alloc_fn whose user pointer is the allocator. */
template <class A>
void *resize(void *user, void *p, std::size_t old_size, std::size_t new_size) noexcept
{
    A &allocator = *static_cast<A *>(user);
    void *fresh = new_size > 0 ? take_or_null(allocator, new_size) : nullptr;
    if (new_size > 0 && !fresh)
        return nullptr;
    if (fresh && p)
        std::memcpy(fresh, p, old_size < new_size ? old_size : new_size);
    if (p)
        give_back(allocator, p, old_size, 0);
    return fresh;
}

} // namespace detail

class context : public detail::handle<npagg_ctx, npagg_ctx_destroy>
{
  public:
    context() noexcept = default; /* an empty handle; create() makes one that works */

    /* Allocates with malloc and computes on the calling thread only. */
    static outcome<context> create()
    {
        context c;
        const npagg_status code = npagg_ctx_create(c.fill());
        return detail::finish(detail::status_of(code, "context.create: no memory"), std::move(c));
    }

    /* With the caller's allocator in C's manner, which outlives all objects of this context. */
    static outcome<context> create(npagg_alloc_fn alloc, void *user)
    {
        context c;
        const npagg_status code = npagg_ctx_create_with_alloc(c.fill(), alloc, user);
        const char *text = alloc ? "context.create: no memory" : "context.create: alloc is NULL";
        return detail::finish(detail::status_of(code, text), std::move(c));
    }

    /* With a std::pmr::memory_resource or a std::allocator, which outlives them likewise. */
    template <class A>
    static outcome<context> create_with(A &allocator)
    {
        return create(detail::resize<A>, &allocator);
    }

    /* 1..256 threads, the caller's and n - 1 workers; default 1. Results are the same bits. */
    outcome<void> set_threads(std::int32_t n)
    {
        return detail::finish(detail::status_of(npagg_ctx_set_threads(get(), n), get()));
    }

    /* Text of the last failure inside the library; "" if there was none. */
    const char *error() const noexcept { return npagg_ctx_error(get()); }
};

namespace detail
{

struct cache_notes;

/* A call on the context has returned this code. */
inline outcome<void> done(const context &ctx, npagg_status code)
{
    return finish(status_of(code, ctx.get()));
}

template <class T>
outcome<T> done(const context &ctx, npagg_status code, T &&value)
{
    return finish(status_of(code, ctx.get()), std::move(value));
}

} // namespace detail

/*
 * What a forward leaves for its backward; fits every stage and both precisions, one at a time. It
 * remembers the batch of an infer_forward, by which the look-ups of infer.hpp measure their arrays:
 * who fills it through get() also looks it up through get().
 */
class cache : public detail::handle<npagg_cache, npagg_cache_destroy>
{
  public:
    cache() noexcept = default;

    static outcome<cache> create(context &ctx)
    {
        cache c;
        const npagg_status code = npagg_cache_create(ctx.get(), c.fill());
        return detail::done(ctx, code, std::move(c));
    }

    /* Bytes that the last forward put into it. */
    std::size_t bytes() const noexcept { return npagg_cache_bytes(get()); }

  private:
    friend struct detail::cache_notes;

    detail::batch inference_{-1, 0};
};

namespace detail
{

/* The batch of the infer_forward that filled a cache; B = -1 if none did. */
struct cache_notes {
    static batch inference(const cache &store) noexcept { return store.inference_; }
    static void note(cache &store, const batch &b) noexcept { store.inference_ = b; }
};

/* A forward is about to fill the cache, if there is one. */
inline npagg_cache *taken(cache *store) noexcept
{
    if (!store)
        return nullptr;
    cache_notes::note(*store, {-1, 0});
    return store->get();
}

} // namespace detail

NPAGG_CPP_END

#endif /* NPAGG_CTX_HPP */
