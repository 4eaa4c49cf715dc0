/* For the other headers: whether failures are thrown, and a namespace that tells the linker. */
#ifndef NPAGG_MODE_HPP
#define NPAGG_MODE_HPP

#if !defined(NPAGG_NO_EXCEPTIONS) && !defined(__cpp_exceptions)
#define NPAGG_NO_EXCEPTIONS
#endif

#ifdef NPAGG_NO_EXCEPTIONS
#define NPAGG_CPP_BEGIN                                                                            \
    namespace npagg                                                                                \
    {                                                                                              \
    inline namespace returning                                                                     \
    {
#else
#define NPAGG_CPP_BEGIN                                                                            \
    namespace npagg                                                                                \
    {                                                                                              \
    inline namespace throwing                                                                      \
    {
#endif
#define NPAGG_CPP_END                                                                              \
    }                                                                                              \
    }

#endif /* NPAGG_MODE_HPP */
