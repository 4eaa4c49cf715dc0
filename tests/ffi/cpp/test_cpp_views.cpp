/* What views are made from, and what they are not made from. */
#include <array>
#include <npagg/npagg.hpp>
#include <string>
#if __cplusplus >= 202002L && __has_include(<span>)
#include <span>
#endif

#include "claims.hpp"

namespace
{

using npagg::view;
template <class To, class... From>
constexpr bool makes = std::is_constructible_v<To, From...>;

void test_view_takes_vectors_arrays_and_pointers_without_a_copy()
{
    std::vector<double> vector = {1, 2, 3};
    std::array<double, 2> array = {4, 5};
    double plain[4] = {6, 7, 8, 9};
    const view<double> a(vector), b(array), c(plain), d(plain + 1, 2);
    CLAIM(a.data() == vector.data() && a.size() == 3);
    CLAIM(b.data() == array.data() && b.size() == 2);
    CLAIM(c.data() == plain && c.size() == 4);
    CLAIM(d.data() == plain + 1 && d.size() == 2 && d[1] == 8);
    const view<const double> e(a);
    CLAIM(e.data() == vector.data() && e.size() == 3);
    CLAIM(a.part(1, 2).data() == vector.data() + 1 && a.part(1, 2).size() == 2);
    double sum = 0;
    for (double x : e)
        sum += x;
    CLAIM(sum == 6);
}

void test_view_of_other_types_does_not_compile()
{
    CLAIM((!makes<view<double>, std::vector<float> &>));
    CLAIM((!makes<view<const double>, const std::vector<float> &>));
    CLAIM((!makes<view<double>, const std::vector<double> &>));
    CLAIM((!makes<view<const double>, const std::vector<int> &>));
    CLAIM((!makes<view<const std::int64_t>, const std::vector<std::int32_t> &>));
    CLAIM((!makes<view<double>, view<const double>>));
    CLAIM((!makes<view<double>, double *>));
    CLAIM((!makes<view<const double>, std::string>));
    CLAIM((makes<view<const double>, const std::vector<double> &>));
}

void test_view_writes_into_no_temporary()
{
    CLAIM((!makes<view<double>, std::vector<double>>));
    CLAIM((!makes<view<double>, std::array<double, 2>>));
    CLAIM((makes<view<const double>, std::vector<double>>));
    CLAIM((makes<view<double>, view<double>>));
}

double sum_of(view<const double> v)
{
    double sum = 0;
    for (double x : v)
        sum += x;
    return sum;
}

void test_view_takes_lists_as_arguments()
{
    CLAIM(sum_of({1, 2, 4}) == 7);
    CLAIM(sum_of({8}) == 8);
    CLAIM(sum_of({}) == 0);
    const double x[] = {1, 2};
    CLAIM(sum_of({x, 1}) == 1);
    CLAIM((!makes<view<double>, std::initializer_list<double>>));
}

void test_view_tells_nothing_from_an_empty_array()
{
    std::vector<double> empty;
    CLAIM(!view<double>().given() && !view<double>(nullptr).given());
    CLAIM(view<double>(empty).given() && view<double>(empty).empty());
    CLAIM(view<const double>(std::vector<double>()).given());
    const view<double> copy = view<double>(nullptr);
    CLAIM(!view<const double>(copy.data(), 0).given());
}

void test_view_takes_spans()
{
#ifdef __cpp_lib_span
    std::vector<double> vector = {1, 2, 3};
    const std::span<double> span(vector);
    CLAIM(view<double>(span).data() == vector.data() && view<double>(span).size() == 3);
    CLAIM(view<double>(std::span<double>(vector).first(2)).size() == 2);
    CLAIM(view<const double>(std::span<const double, 2>(vector.data(), 2)).size() == 2);
    CLAIM((!makes<view<double>, std::span<const double>>));
    std::vector<float> noise(3);
    npagg::noise_fill(1, 2, std::span<float>(noise));
    CLAIM(noise[0] != 0);
#else
    CLAIM((!makes<view<double>, int>)); /* the C++20 build of this program has the spans */
#endif
}

} // namespace

int main()
{
    return claims::run(__FILE__,
                       {
                           TEST(test_view_takes_vectors_arrays_and_pointers_without_a_copy),
                           TEST(test_view_of_other_types_does_not_compile),
                           TEST(test_view_writes_into_no_temporary),
                           TEST(test_view_takes_lists_as_arguments),
                           TEST(test_view_tells_nothing_from_an_empty_array),
                           TEST(test_view_takes_spans),
                       });
}
