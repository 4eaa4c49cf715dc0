/* For the other headers: arrays are measured before the library sees them. */
#ifndef NPAGG_SIZES_HPP
#define NPAGG_SIZES_HPP

#include <cinttypes>
#include <cstdio>
#include <initializer_list>
#include <limits>

#include "status.hpp"
#include "view.hpp"

NPAGG_CPP_BEGIN

namespace detail
{

/* B sets with N rows in all. */
struct batch {
    std::int64_t sets = 0, rows = 0;
};

/* Product of sizes, the largest number if it is beyond; negative if one of them is. */
inline std::int64_t product(std::initializer_list<std::int64_t> sizes) noexcept
{
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    std::int64_t n = 1;
    for (std::int64_t size : sizes) {
        if (size < 0)
            return -1;
        n = size == 0 ? 0 : n > most / size ? most : n * size;
    }
    return n;
}

/* Checks the arguments of one call; the first that does not fit is remembered. */
class measure
{
  public:
    explicit measure(const char *call) noexcept : call_(call) {}

    explicit operator bool() const noexcept { return failure_.ok(); }
    const status &failure() const noexcept { return failure_; }

    /* A handle that is not empty. */
    template <class H>
    bool there(const char *name, const H &handle) noexcept
    {
        if (!handle)
            refuse(name, "is an empty handle");
        return static_cast<bool>(handle);
    }

    /* The array has the product of sizes elements; shape is for the text. */
    template <class T>
    void array(const char *name, const view<T> &a, const char *shape,
               std::initializer_list<std::int64_t> sizes) noexcept
    {
        const std::int64_t want = product(sizes);
        if (want >= 0 && a.size() == static_cast<std::uint64_t>(want))
            return;
        if (want < 0)
            refuse(name, "cannot be measured: a size is negative");
        else
            refuse_size(name, a.size(), want, shape);
    }

    /* The same, or no array. */
    template <class T>
    void maybe(const char *name, const view<T> &a, const char *shape,
               std::initializer_list<std::int64_t> sizes) noexcept
    {
        if (a.given())
            array(name, a, shape, sizes);
    }

    /* offsets [B+1]. What lies between its ends is the library's to check. */
    batch sets(const char *name, const sizes_view &offsets) noexcept
    {
        if (offsets.empty() || offsets[offsets.size() - 1] < 0) {
            refuse(name, offsets.empty() ? "has 0 elements, want B + 1"
                                         : "ends with a negative number of rows");
            return {};
        }
        return {static_cast<std::int64_t>(offsets.size()) - 1, offsets[offsets.size() - 1]};
    }

    /* How often `each` elements go into the array. */
    template <class T>
    std::int64_t times(const char *name, const view<T> &a, std::int64_t each) noexcept
    {
        const std::int64_t n = static_cast<std::int64_t>(a.size());
        if (each > 0 && n % each == 0)
            return n / each;
        char text[96];
        std::snprintf(text, sizeof text, "has %" PRId64 " elements, want a multiple of %" PRId64, n,
                      each);
        refuse(name, text);
        return 0;
    }

    void refuse(const char *name, const char *why, npagg_status code = NPAGG_E_ARG) noexcept
    {
        char text[256];
        if (!failure_.ok())
            return;
        std::snprintf(text, sizeof text, "%s: %s %s", call_, name, why);
        failure_ = status(code, text);
    }

  private:
    void refuse_size(const char *name, std::size_t got, std::int64_t want,
                     const char *shape) noexcept
    {
        char text[128];
        std::snprintf(text, sizeof text, "has %zu elements, want %" PRId64 " = %s", got, want,
                      shape);
        refuse(name, text);
    }

    const char *call_;
    status failure_{};
};

inline std::int64_t count(std::size_t n) noexcept
{
    return static_cast<std::int64_t>(n);
}

} // namespace detail

NPAGG_CPP_END

#endif /* NPAGG_SIZES_HPP */
