/* An allocator that counts the bytes it has given out, and fails when told to. */
#ifndef COUNTING_HPP
#define COUNTING_HPP

#include <cstddef>
#include <cstdlib>
#include <memory_resource>
#include <new>

struct counter {
    std::size_t bytes = 0; /* not yet given back */
    long calls = 0;
    long fail_at = -1; /* this call fails, counted from 0; -1: none */

    void *take(std::size_t size)
    {
        if (calls++ == fail_at)
            throw std::bad_alloc();
        bytes += size;
        return ::operator new(size);
    }
    void give_back(void *p, std::size_t size)
    {
        bytes -= size;
        ::operator delete(p);
    }
};

/* As std::pmr wants it. */
class counting_resource : public std::pmr::memory_resource
{
  public:
    counter count;

  private:
    void *do_allocate(std::size_t size, std::size_t) override { return count.take(size); }
    void do_deallocate(void *p, std::size_t size, std::size_t) override
    {
        count.give_back(p, size);
    }
    bool do_is_equal(const memory_resource &other) const noexcept override
    {
        return this == &other;
    }
};

/* As the standard's containers want it. */
template <class T>
struct counting_allocator {
    using value_type = T;
    counter *count;

    explicit counting_allocator(counter &c) noexcept : count(&c) {}
    template <class U>
    counting_allocator(const counting_allocator<U> &other) noexcept : count(other.count)
    {
    }
    T *allocate(std::size_t n) { return static_cast<T *>(count->take(n * sizeof(T))); }
    void deallocate(T *p, std::size_t n) noexcept { count->give_back(p, n * sizeof(T)); }
    template <class U>
    bool operator==(const counting_allocator<U> &other) const noexcept
    {
        return count == other.count;
    }
    template <class U>
    bool operator!=(const counting_allocator<U> &other) const noexcept
    {
        return count != other.count;
    }
};

#endif /* COUNTING_HPP */
