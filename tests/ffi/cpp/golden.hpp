/* The golden files' text format, read into maps: tests/support/golden.h describes it. */
#ifndef GOLDEN_HPP
#define GOLDEN_HPP

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

struct golden {
    std::map<std::string, std::vector<double>> arrays; /* a scalar is an array of one */
    bool complete = false;

    bool has(const std::string &name) const { return arrays.count(name) > 0; }
    /* Missing arrays are empty, which no comparison takes for what it wants. */
    std::vector<double> array(const std::string &name) const
    {
        const auto found = arrays.find(name);
        return found == arrays.end() ? std::vector<double>() : found->second;
    }
    double scalar(const std::string &name, double otherwise = NAN) const
    {
        return has(name) ? array(name).at(0) : otherwise;
    }
    std::int64_t integer(const std::string &name, std::int64_t otherwise = -1) const
    {
        return has(name) ? static_cast<std::int64_t>(scalar(name)) : otherwise;
    }
    template <class I>
    std::vector<I> integers(const std::string &name) const
    {
        std::vector<I> out;
        for (double x : array(name))
            out.push_back(static_cast<I>(x));
        return out;
    }
};

inline golden read_golden(const std::string &path)
{
    golden g;
    std::ifstream file(path);
    std::string line, word, name, type;
    std::stringstream in;
    while (std::getline(file, line))
        in << line.substr(0, line.find('#')) << '\n';
    while (in >> word && !g.complete) {
        std::size_t dims = 0, n = 1;
        g.complete = word == "end";
        if (g.complete || !(in >> name) || word == "case")
            continue;
        if (word == "array") {
            in >> type >> dims;
            for (std::size_t size = 0; dims > 0 && in >> size; dims--)
                n *= size;
        }
        for (std::string value; n > 0 && in >> value; n--)
            g.arrays[name].push_back(std::strtod(value.c_str(), nullptr));
        g.arrays[name]; /* also if it is empty */
    }
    return g;
}

#endif /* GOLDEN_HPP */
