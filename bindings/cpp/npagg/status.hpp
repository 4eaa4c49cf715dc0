/*
 * Failures. A function that may fail returns outcome<T>:
 *
 *   usually                 T itself; a failure is thrown as npagg::error
 *   NPAGG_NO_EXCEPTIONS     result<T>, or status for void; nothing is thrown. Also without this
 *                           macro where the compiler's exceptions are off.
 *
 * Both ways may be used in one program: their names differ for the linker. A failure changes
 * nothing, except that a cache given to a forward or backward may be empty after it.
 */
#ifndef NPAGG_STATUS_HPP
#define NPAGG_STATUS_HPP

#include <cstdio>
#include <exception>
#include <type_traits>
#include <utility>

#include <npagg/ctx.h>
#include <npagg/types.h>

#include "mode.hpp"

NPAGG_CPP_BEGIN

/* NPAGG_OK, or a negative code (npagg/types.h) with its text. Allocates nothing. */
class [[nodiscard]] status
{
  public:
    status() noexcept = default;
    status(npagg_status code, const char *text) noexcept : code_(code)
    {
        std::snprintf(text_, sizeof text_, "%s", text);
    }

    bool ok() const noexcept { return code_ == NPAGG_OK; }
    explicit operator bool() const noexcept { return ok(); }
    npagg_status code() const noexcept { return code_; }
    /* "NPAGG_E_ARG" and so on. */
    const char *name() const noexcept { return npagg_status_name(code_); }
    /* What was got and what was wanted; "" if nothing failed. */
    const char *text() const noexcept { return text_; }

  private:
    npagg_status code_ = NPAGG_OK;
    char text_[320] = {};
};

/* A failure as an exception; what() is the text. */
class error : public std::exception
{
  public:
    explicit error(const npagg::status &failure) noexcept : status_(failure) {}

    const char *what() const noexcept override { return status_.text(); }
    npagg_status code() const noexcept { return status_.code(); }
    const npagg::status &status() const noexcept { return status_; }

  private:
    npagg::status status_;
};

/* A value, or why there is none; then the value is an empty one. */
template <class T>
class [[nodiscard]] result
{
  public:
    result(T &&value) noexcept(std::is_nothrow_move_constructible_v<T>) : value_(std::move(value))
    {
    }
    result(const npagg::status &failure) : status_(failure) {}

    bool ok() const noexcept { return status_.ok(); }
    explicit operator bool() const noexcept { return ok(); }
    const npagg::status &status() const noexcept { return status_; }

    T &operator*() &noexcept { return value_; }
    const T &operator*() const &noexcept { return value_; }
    T &&operator*() &&noexcept { return std::move(value_); }
    T *operator->() noexcept { return &value_; }
    const T *operator->() const noexcept { return &value_; }

  private:
    T value_{};
    npagg::status status_{};
};

#ifdef NPAGG_NO_EXCEPTIONS
template <class T>
using outcome = std::conditional_t<std::is_void_v<T>, status, result<T>>;
#else
template <class T>
using outcome = T;
#endif

namespace detail
{

#ifdef NPAGG_NO_EXCEPTIONS
inline status finish(const status &s) noexcept
{
    return s;
}

template <class T>
result<T> finish(const status &s, T &&value)
{
    if (!s.ok())
        return s;
    return std::move(value);
}
#else
inline void finish(const status &s)
{
    if (!s.ok())
        throw error(s);
}

template <class T>
T finish(const status &s, T &&value)
{
    if (!s.ok())
        throw error(s);
    return std::move(value);
}
#endif

/* What a call on this context returned, with the context's text. */
inline status status_of(npagg_status code, const npagg_ctx *ctx) noexcept
{
    return code == NPAGG_OK ? status() : status(code, npagg_ctx_error(ctx));
}

/* What a function without a context returned: its own words. */
inline status status_of(npagg_status code, const char *text) noexcept
{
    return code == NPAGG_OK ? status() : status(code, text);
}

} // namespace detail

NPAGG_CPP_END

#endif /* NPAGG_STATUS_HPP */
