#include "vmp/record.h"

np_record *np_record_take(np_arena *arena, const np_record *shape)
{
    np_record *rec = NP_TAKE(arena, 1, np_record);
    np_record r = *shape;
    r.value = NP_TAKE(arena, r.p, double);
    r.offsets = NP_TAKE(arena, r.n_sets + 1, int64_t);
    r.ends = NP_TAKE(arena, r.n_sets, int64_t);
    r.iters = NP_TAKE(arena, r.n_sets, int32_t);
    r.wild = NP_TAKE(arena, r.n_sets, int32_t);
    r.bad = NP_TAKE(arena, r.n_sets, int32_t);
    r.grad_iters = NP_TAKE(arena, r.n_sets, int32_t);
    r.residual = NP_TAKE2(arena, r.n_sets, 2, double);
    r.stats = NP_TAKE(arena, r.n_sets, np_partial);
    r.hyper = NP_TAKE2(arena, r.n_sets, r.slots, double);
    r.sums = np_arena_take(arena, r.n_sets, r.slots, 2 * (size_t)r.d * sizeof(double));
    r.logw = np_arena_take(arena, r.n_sets, r.slots, (size_t)r.logw_slots * sizeof(double));
    r.mean = NP_TAKE2(arena, r.n_sets, r.mean_slots, double);
    r.trace = NP_TAKE2(arena, r.n_sets, r.trace_room, double);
    r.bound = NP_TAKE(arena, r.n_sets, double);
    r.w = np_arena_take(arena, r.n, r.weight_slots, r.real_size);
    if (rec)
        *rec = r;
    return rec;
}

static int64_t slot(const np_record *rec, int64_t b, int32_t t)
{
    return b * rec->slots + np_record_slot(rec->slots, t);
}

double *np_record_sums(const np_record *rec, int64_t b, int32_t t)
{
    return rec->sums + slot(rec, b, t) * 2 * rec->d;
}

double *np_record_logw(const np_record *rec, int64_t b, int32_t t)
{
    return rec->logw_slots > 0 ? rec->logw + slot(rec, b, t) * rec->logw_slots : NULL;
}

double *np_record_mean(const np_record *rec, int64_t b)
{
    return rec->mean_slots > 0 ? rec->mean + b * rec->mean_slots : NULL;
}

double *np_record_hyper(const np_record *rec, int64_t b, int32_t t)
{
    return rec->hyper + slot(rec, b, t);
}
