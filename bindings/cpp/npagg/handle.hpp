/* For the other headers: who owns an object of the library destroys it. */
#ifndef NPAGG_HANDLE_HPP
#define NPAGG_HANDLE_HPP

#include <utility>

#include "status.hpp"

NPAGG_CPP_BEGIN

namespace detail
{

/* One object or none; moves, does not copy. Objects may be destroyed in any order. */
template <class C, void (*Destroy)(C *)>
class handle
{
  public:
    handle() noexcept = default;
    handle(handle &&other) noexcept : raw_(other.release()) {}
    handle &operator=(handle &&other) noexcept
    {
        if (this != &other)
            reset(other.release());
        return *this;
    }
    handle(const handle &) = delete;
    handle &operator=(const handle &) = delete;
    ~handle() { Destroy(raw_); }

    /* The C object, for calls by hand; stays owned here. */
    C *get() const noexcept { return raw_; }
    explicit operator bool() const noexcept { return raw_ != nullptr; }

    /* The C object, which is the caller's from now on. */
    C *release() noexcept { return std::exchange(raw_, nullptr); }

    /* Destroys the object. */
    void reset() noexcept { reset(nullptr); }

  protected:
    void reset(C *raw) noexcept { Destroy(std::exchange(raw_, raw)); }
    C **fill() noexcept { return &raw_; } /* of an empty handle, for the C function that creates */

  private:
    C *raw_ = nullptr;
};

} // namespace detail

NPAGG_CPP_END

#endif /* NPAGG_HANDLE_HPP */
