/*
 * view<T>: the caller's array, a pointer and a size. Owns nothing, copies nothing.
 *
 * Made from std::vector, std::array, T[n], a pointer and a size, std::span, or whatever else has
 * data() and size() with elements of exactly this type; view<const T> also from temporaries and
 * {1, 2, 3}, which live until the end of the call they are an argument of. nullptr or {} is no
 * array, for arguments that may be left out; an empty vector is an array of size 0.
 */
#ifndef NPAGG_VIEW_HPP
#define NPAGG_VIEW_HPP

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <type_traits>
#include <utility>

#include "mode.hpp"

NPAGG_CPP_BEGIN

template <class T>
class view;

namespace detail
{

/* Where an empty container that has no memory is said to begin: it is there, but empty. */
template <class T>
inline T nowhere{};

/* A temporary counts as constant, so that nobody writes into what is gone. */
template <class C>
using source_t = std::conditional_t<std::is_lvalue_reference_v<C>, C, const C &>;

template <class C>
using element_t = std::remove_pointer_t<decltype(std::data(std::declval<source_t<C>>()))>;

template <class C, class T>
using if_viewable = std::enable_if_t<
    !std::is_same_v<std::remove_cv_t<std::remove_reference_t<C>>, view<T>> &&
    std::is_convertible_v<element_t<C> (*)[], T (*)[]> &&
    std::is_convertible_v<decltype(std::size(std::declval<source_t<C>>())), std::size_t>>;

} // namespace detail

template <class T>
class view
{
  public:
    using element_type = T;
    using value_type = std::remove_cv_t<T>;

    constexpr view() noexcept = default;
    constexpr view(std::nullptr_t) noexcept {}
    constexpr view(T *data, std::size_t size) noexcept : data_(data), size_(size) {}

    template <class C, class = detail::if_viewable<C, T>>
    constexpr view(C &&array) noexcept : data_(std::data(array)), size_(std::size(array))
    {
        if (!data_)
            data_ = &detail::nowhere<value_type>;
    }

    template <class U = T, class = std::enable_if_t<std::is_const_v<U>>>
    constexpr view(const std::initializer_list<value_type> &list) noexcept
        : view(std::data(list), list.size())
    {
    }

    constexpr T *data() const noexcept { return data_; }
    constexpr std::size_t size() const noexcept { return size_; }
    constexpr bool empty() const noexcept { return size_ == 0; }
    constexpr T *begin() const noexcept { return data_; }
    constexpr T *end() const noexcept { return data_ + size_; }
    constexpr T &operator[](std::size_t i) const noexcept { return data_[i]; }

    /* Is there an array, be it empty? */
    constexpr bool given() const noexcept { return data_ != nullptr; }

    /* Elements begin .. begin + n - 1, which must be there. */
    constexpr view part(std::size_t begin, std::size_t n) const noexcept
    {
        return view(data_ + begin, n);
    }

  private:
    T *data_ = nullptr;
    std::size_t size_ = 0;
};

/* What the library's functions read sizes from; 64 bits on every machine. */
using sizes_view = view<const std::int64_t>;
/* which [B,S]: the component of each sample. */
using which_view = view<const std::int32_t>;

namespace detail
{

/* float or double: what an array holds. */
template <class A>
struct real_of {
    using type = std::remove_cv_t<std::remove_pointer_t<decltype(std::data(std::declval<A &>()))>>;
    static_assert(std::is_same_v<type, float> || std::is_same_v<type, double>,
                  "libnpagg computes on arrays of float and of double");
};

} // namespace detail

/*
 * Functions on numbers are templates over their first array, which may be of any type that a view
 * is made from and decides between float and double; the others must hold the same.
 */
template <class A>
using real_t = typename detail::real_of<A>::type;
template <class A>
using in = view<const real_t<A>>;
template <class A>
using out = view<real_t<A>>;

NPAGG_CPP_END

#endif /* NPAGG_VIEW_HPP */
