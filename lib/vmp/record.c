#include "vmp/record.h"

/* In a large batch neighbours are mostly one worker's. */
static int64_t apart(int64_t n_sets, int64_t slots)
{
    enum { MANY = 1024, LINE = NP_APART / sizeof(double) };
    return n_sets > MANY ? slots : (slots + LINE - 1) / LINE * LINE;
}

np_record *np_record_take(np_arena *arena, const np_record *shape)
{
    np_record *rec = NP_TAKE(arena, 1, np_record);
    np_record r = *shape;
    r.value = NP_TAKE(arena, r.p, double);
    r.offsets = NP_TAKE(arena, r.n_sets + 1, int64_t);
    r.ends = NP_TAKE(arena, r.n_sets, int64_t);
    r.course = NP_TAKE(arena, r.n_sets, np_course);
    r.hyper_slots = apart(r.n_sets, r.slots);
    r.hyper = NP_TAKE2(arena, r.n_sets, r.hyper_slots, double);
    r.sums = np_arena_take(arena, r.n_sets, r.slots, 2 * (size_t)r.d * sizeof(double));
    r.logw = np_arena_take(arena, r.n_sets, r.slots, (size_t)r.logw_slots * sizeof(double));
    r.mean = NP_TAKE2(arena, r.n_sets, r.mean_slots, double);
    r.trace = NP_TAKE2(arena, r.n_sets, r.trace_room, double);
    r.w = np_arena_take(arena, r.n, r.weight_slots, r.real_size);
    if (rec)
        *rec = r;
    return rec;
}

double *np_record_sums(const np_record *rec, int64_t b, int32_t t)
{
    return rec->sums + (b * rec->slots + np_record_slot(rec->slots, t)) * 2 * rec->d;
}

double *np_record_logw(const np_record *rec, int64_t b, int32_t t)
{
    const int64_t slot = b * rec->slots + np_record_slot(rec->slots, t);
    return rec->logw_slots > 0 ? rec->logw + slot * rec->logw_slots : NULL;
}

double *np_record_mean(const np_record *rec, int64_t b)
{
    return rec->mean_slots > 0 ? rec->mean + b * rec->mean_slots : NULL;
}

double *np_record_hyper(const np_record *rec, int64_t b, int32_t t)
{
    return rec->hyper + b * rec->hyper_slots + np_record_slot(rec->slots, t);
}
