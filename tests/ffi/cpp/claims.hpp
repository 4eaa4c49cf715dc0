/*
 * Tests in C++ that print as Unity does. Unity leaves a failed test by longjmp, which is nothing
 * for objects with destructors; here a claim that fails is noted and the test goes on.
 */
#ifndef CLAIMS_HPP
#define CLAIMS_HPP

#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace claims
{

struct test {
    std::string name;
    int line;
    void (*run)();
};

inline int failed = 0; /* claims of the test at hand */
inline const char *file = "";
inline std::string name;

inline bool claim(bool holds, int line, const char *what, const std::string &more = "")
{
    if (holds)
        return true;
    failed++;
    std::printf("%s:%d:%s:FAIL: %s %s\n", file, line, name.c_str(), what, more.c_str());
    return false;
}

/* |got_i - want_i| <= tol max |want|. */
inline void close(const std::vector<double> &want, const std::vector<double> &got, double tol,
                  const std::string &what, int line)
{
    double largest = 0;
    for (double x : want)
        largest = std::fmax(largest, std::fabs(x));
    claim(want.size() == got.size(), line, what.c_str(), "sizes differ");
    for (std::size_t i = 0; i < want.size() && i < got.size(); i++) {
        if (std::fabs(got[i] - want[i]) <= tol * largest)
            continue;
        char text[160];
        std::snprintf(text, sizeof text, "[%zu] = %.17g, want %.17g +- %.3g", i, got[i], want[i],
                      tol * largest);
        claim(false, line, what.c_str(), text);
        return;
    }
}

inline int run(const char *source, const std::vector<test> &tests)
{
    int failures = 0;
    file = source;
    for (const test &t : tests) {
        failed = 0;
        name = t.name;
        t.run();
        failures += failed > 0;
        if (failed == 0)
            std::printf("%s:%d:%s:PASS\n", source, t.line, t.name.c_str());
    }
    std::printf("\n%zu Tests %d Failures 0 Ignored\n%s\n", tests.size(), failures,
                failures ? "FAIL" : "OK");
    return failures > 0;
}

} // namespace claims

#define CLAIM(condition) claims::claim(condition, __LINE__, #condition)
#define TEST(function)                                                                             \
    claims::test                                                                                   \
    {                                                                                              \
#function, __LINE__, function                                                              \
    }

#endif /* CLAIMS_HPP */
