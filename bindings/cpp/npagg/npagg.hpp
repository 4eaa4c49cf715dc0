/*
 * libnpagg for C++17: header-only, over the C library. #include <npagg/npagg.hpp>, or <npagg.hpp>
 * for short; compile and link as the C library (pkg-config npagg).
 *
 *   auto ctx = npagg::context::create();
 *   auto prior = npagg::prior::student(ctx, d);
 *   std::vector<double> params(prior.param_count()), q(b * prior.posterior_count());
 *   prior.init_params(ctx, 1, params);
 *   npagg::infer_forward(ctx, prior, {}, params, offsets, m, v, {}, q);
 *
 * Objects    context, cache, prior, vmp, encoder, decoder, objective, model own one object of the
 *            library each; they move and do not copy, and end in any order. get() is the C object.
 * Names      as in C: npagg_encoder_forward_f64(ctx, encoder, ...) is encoder.forward(ctx, ...);
 *            what belongs to no object is a function, npagg::infer_forward, npagg::posterior_kl.
 * Arrays     stay the caller's, dense and row-major; nothing is copied or kept. Arguments are views
 *            (view.hpp): vectors, arrays, spans, {pointer, size}. {} leaves out what may be left
 *            out. Numbers of sets and points follow from offsets, or from the size of q or y.
 * Precision  float or double, whatever the first array holds.
 * Sizes      are compared with what the shapes want, before anything else is touched:
 *            "infer_forward: m has 14 elements, want 15 = [N,D]".
 * Failures   npagg::error is thrown, or returned without exceptions (status.hpp).
 * Threads    a context and a cache belong to one thread at a time; shapes may be shared while
 *            nobody sets or moves them.
 */
#ifndef NPAGG_NPAGG_HPP
#define NPAGG_NPAGG_HPP

#include <npagg/npagg.h>

#include "ctx.hpp"
#include "decoder.hpp"
#include "encoder.hpp"
#include "extras.hpp"
#include "infer.hpp"
#include "model.hpp"
#include "objective.hpp"
#include "posterior.hpp"
#include "prior.hpp"
#include "status.hpp"
#include "view.hpp"

#endif /* NPAGG_NPAGG_HPP */
