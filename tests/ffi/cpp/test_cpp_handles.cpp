/* Who owns what: moves, ends in any order, exceptions in the middle, allocators. */
#include <algorithm>
#include <functional>
#include <memory>
#include <npagg/npagg.hpp>
#include <numeric>
#include <stdexcept>

#include "claims.hpp"
#include "counting.hpp"

namespace
{

template <class H>
constexpr bool moves_only =
    std::is_nothrow_move_constructible_v<H> &&std::is_nothrow_move_assignable_v<H>
        &&std::is_nothrow_default_constructible_v<H> &&std::is_nothrow_destructible_v<H> &&
    !std::is_copy_constructible_v<H> && !std::is_copy_assignable_v<H>;

/* One of each, and a step of the model, so that context and cache hold memory. */
struct everything {
    npagg::context ctx;
    npagg::cache cache;
    npagg::prior prior;
    npagg::vmp vmp;
    npagg::encoder encoder;
    npagg::decoder decoder;
    npagg::objective objective;
    npagg::model model;

    explicit everything(npagg::context &&with) : ctx(std::move(with))
    {
        cache = npagg::cache::create(ctx);
        prior = npagg::prior::student(ctx, 2);
        vmp = npagg::vmp::create(ctx);
        encoder = npagg::encoder::mlp(ctx, 1, 1, 2, {3});
        decoder = npagg::decoder::mlp(ctx, 1, 1, 2, {3});
        objective = npagg::objective::create(ctx, npagg::loss_kind::elbo);
        model = npagg::model::create(ctx, encoder, prior, vmp, decoder, objective);
    }

    std::vector<double> losses()
    {
        const std::vector<double> x = {0, 1, 2, 3}, y = {1, 0, -1, 2};
        const std::vector<double> noise(static_cast<std::size_t>(2 * 5 * 2), 0.5);
        std::vector<double> params(static_cast<std::size_t>(model.param_count())), loss(2);
        model.init_params(ctx, 1, params);
        model.forward(ctx, params, {0, 2, 4}, {1, 1}, x, y, noise, {}, loss, &cache);
        return loss;
    }

    void end(int which)
    {
        const std::function<void()> ends[] = {[&] { ctx.reset(); },       [&] { cache.reset(); },
                                              [&] { prior.reset(); },     [&] { vmp.reset(); },
                                              [&] { encoder.reset(); },   [&] { decoder.reset(); },
                                              [&] { objective.reset(); }, [&] { model.reset(); }};
        ends[which]();
    }
};

void test_handles_move_and_do_not_copy()
{
    CLAIM(moves_only<npagg::context> && moves_only<npagg::cache> && moves_only<npagg::prior>);
    CLAIM(moves_only<npagg::vmp> && moves_only<npagg::encoder> && moves_only<npagg::decoder>);
    CLAIM(moves_only<npagg::objective> && moves_only<npagg::model>);
}

void test_handle_that_was_moved_from_is_empty()
{
    auto ctx = npagg::context::create();
    auto a = npagg::prior::mixture(ctx, 3, 2);
    npagg_prior *raw = a.get();
    npagg::prior b = std::move(a);
    CLAIM(!a && b && b.get() == raw && b.d() == 3 && b.param_count() == 14);
    npagg::prior &same = b;
    b = std::move(same);
    CLAIM(b.get() == raw);
    a = std::move(b);
    CLAIM(a.get() == raw && !b);
    npagg_prior *owned = a.release();
    CLAIM(owned == raw && !a && a.param_count() == -1);
    npagg_prior_destroy(owned);
}

void test_handle_that_is_assigned_to_ends_what_it_had()
{
    counting_resource memory;
    {
        auto ctx = npagg::context::create_with(memory);
        auto a = npagg::prior::gaussian(ctx, 3);
        const std::size_t one = memory.count.bytes;
        a = npagg::prior::gaussian(ctx, 3);
        CLAIM(memory.count.bytes == one);
        std::vector<npagg::prior> many;
        for (int i = 0; i < 9; i++)
            many.push_back(npagg::prior::gaussian(ctx, 3));
        std::swap(many[0], many[8]);
        many.erase(many.begin() + 2, many.end());
        a.reset();
        a.reset();
    }
    CLAIM(memory.count.bytes == 0);
}

void test_objects_end_in_any_order()
{
    std::vector<int> order(8);
    std::iota(order.begin(), order.end(), 0);
    int bad = 0, orders = 0;
    do {
        if (orders++ % 97 != 0) /* 416 of the 40320, spread evenly */
            continue;
        counting_resource memory;
        everything all(npagg::context::create_with(memory));
        all.losses();
        for (int which : order)
            all.end(which);
        bad += memory.count.bytes != 0;
    } while (std::next_permutation(order.begin(), order.end()));
    CLAIM(orders == 40320 && bad == 0);
}

void test_exception_in_the_middle_leaks_nothing()
{
    counting_resource memory;
    int caught = 0;
    for (const char *where : {"refused", "library", "host"}) {
        try {
            everything all(npagg::context::create_with(memory));
            all.losses();
            std::vector<double> few(1);
            if (*where == 'r')
                all.model.init_params(all.ctx, 1, few);
            if (*where == 'l')
                npagg::prior::gaussian(all.ctx, 0);
            throw std::runtime_error("host");
        } catch (const npagg::error &e) {
            caught += e.code() == NPAGG_E_ARG;
        } catch (const std::runtime_error &) {
            caught += 10;
        }
        CLAIM(memory.count.bytes == 0);
    }
    CLAIM(caught == 12);
}

/* For every n: the n-th allocation throws, and out comes npagg::error with no byte lost. */
template <class Memory>
void fail_everywhere(Memory &memory, counter &count)
{
    bool done = false;
    long n = 0, refused = 0;
    for (; !done && n < 1000; n++) {
        count.calls = 0;
        count.fail_at = n;
        try {
            everything all(npagg::context::create_with(memory));
            all.losses();
            done = true;
        } catch (const npagg::error &e) {
            refused += e.code() == NPAGG_E_NOMEM && *e.what() != 0;
        }
        CLAIM(count.bytes == 0);
    }
    CLAIM(done && n > 8 && refused == n - 1);
}

void test_memory_resource_that_throws_is_out_of_memory()
{
    counting_resource memory;
    fail_everywhere(memory, memory.count);
}

void test_standard_allocator_that_throws_is_out_of_memory()
{
    counter count;
    counting_allocator<char> allocator(count);
    fail_everywhere(allocator, count);
}

void test_allocators_of_the_standard_are_taken()
{
    std::allocator<double> standard;
    everything plain(npagg::context::create());
    everything with(npagg::context::create_with(standard));
    everything pool(npagg::context::create_with(*std::pmr::new_delete_resource()));
    CLAIM(plain.losses() == with.losses());
    CLAIM(plain.losses() == pool.losses());
}

void *refuse(void *, void *, std::size_t, std::size_t)
{
    return nullptr;
}

void test_allocator_of_c_is_taken()
{
    npagg_status code = NPAGG_OK;
    try {
        npagg::context::create(refuse, nullptr);
    } catch (const npagg::error &e) {
        code = e.code();
    }
    CLAIM(code == NPAGG_E_NOMEM);
}

void test_everything_moves_and_works_on()
{
    everything a(npagg::context::create());
    a.ctx.set_threads(2);
    const std::vector<double> before = a.losses();
    everything b = std::move(a);
    CLAIM(b.losses() == before);
    CLAIM(b.cache.bytes() > 0);
}

} // namespace

int main()
{
    return claims::run(__FILE__, {
                                     TEST(test_handles_move_and_do_not_copy),
                                     TEST(test_handle_that_was_moved_from_is_empty),
                                     TEST(test_handle_that_is_assigned_to_ends_what_it_had),
                                     TEST(test_objects_end_in_any_order),
                                     TEST(test_exception_in_the_middle_leaks_nothing),
                                     TEST(test_memory_resource_that_throws_is_out_of_memory),
                                     TEST(test_standard_allocator_that_throws_is_out_of_memory),
                                     TEST(test_allocators_of_the_standard_are_taken),
                                     TEST(test_allocator_of_c_is_taken),
                                     TEST(test_everything_moves_and_works_on),
                                 });
}
