/*
 * Arrays for calls, by the name of the argument: a call that works is made again with each array in
 * turn too long or too short, and must be refused with a text that names it.
 */
#ifndef STOCK_HPP
#define STOCK_HPP

#include <deque>
#include <functional>
#include <npagg/npagg.hpp>

#include "claims.hpp"

template <class T>
class stock
{
  public:
    /* An array [n], of 0.5 if nobody says otherwise. */
    std::vector<T> &operator()(const std::string &name, std::int64_t n)
    {
        names_.push_back(name);
        reals_.emplace_back(length(name, n), T(0.5));
        return reals_.back();
    }

    /* which [n], components 0; or iters and the like. */
    std::vector<std::int32_t> &components(const std::string &name, std::int64_t n)
    {
        names_.push_back(name);
        components_.emplace_back(length(name, n), 0);
        return components_.back();
    }

    std::vector<std::int64_t> &sizes(const std::string &name, std::vector<std::int64_t> values)
    {
        names_.push_back(name);
        values.resize(length(name, static_cast<std::int64_t>(values.size())), 0);
        sizes_.push_back(values);
        return sizes_.back();
    }

    using action = std::function<void(stock &)>;

    /* The call as it should be; then the wrong ones. */
    static void check(const std::string &call, const action &act)
    {
        stock good;
        const std::string text = good.text_of(act);
        claims::claim(text.empty(), __LINE__, call.c_str(), text);
        claims::claim(!good.names_.empty(), __LINE__, call.c_str(), "no array");
        for (const std::string &name : good.names_) {
            for (int change : {1, -1}) {
                stock bad;
                bad.bad_ = name;
                bad.change_ = change;
                const std::string got = bad.text_of(act), want = call + ": " + name + " has ";
                claims::claim(got.compare(0, want.size(), want) == 0, __LINE__, want.c_str(),
                              "got: " + got);
            }
        }
    }

  private:
    std::size_t length(const std::string &name, std::int64_t n) const
    {
        return static_cast<std::size_t>(name == bad_ ? n + change_ : n);
    }

    std::string text_of(const action &act)
    {
        try {
            act(*this);
        } catch (const npagg::error &e) {
            return e.code() == NPAGG_E_ARG || bad_.empty() ? e.what() : "wrong code";
        }
        return "";
    }

    std::string bad_;
    int change_ = 0;
    std::vector<std::string> names_;
    std::deque<std::vector<T>> reals_;
    std::deque<std::vector<std::int32_t>> components_;
    std::deque<std::vector<std::int64_t>> sizes_;
};

#endif /* STOCK_HPP */
