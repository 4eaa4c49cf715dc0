/* libnpagg: aggregation for neural processes as inference in a graphical model. Everything public.
 */
#ifndef NPAGG_NPAGG_H
#define NPAGG_NPAGG_H

#include <npagg/checkpoint.h>
#include <npagg/ctx.h>
#include <npagg/decoder.h>
#include <npagg/encoder.h>
#include <npagg/infer.h>
#include <npagg/model.h>
#include <npagg/objective.h>
#include <npagg/posterior.h>
#include <npagg/prior.h>
#include <npagg/types.h>
#include <npagg/version.h>

#endif /* NPAGG_NPAGG_H */
