/* For the other headers: names that the library reads as C strings. */
#ifndef NPAGG_PATH_HPP
#define NPAGG_PATH_HPP

#include <string>

#include "mode.hpp"

NPAGG_CPP_BEGIN

/* A const char * or a std::string of the caller's. */
class c_string
{
  public:
    c_string(const char *text) noexcept : text_(text) {}
    c_string(const std::string &text) noexcept : text_(text.c_str()) {}

    const char *get() const noexcept { return text_; }

  private:
    const char *text_;
};

NPAGG_CPP_END

#endif /* NPAGG_PATH_HPP */
