/* libnpagg: aggregation for neural processes as inference in a graphical model. Everything public.
 */
#ifndef NPAGG_NPAGG_H
#define NPAGG_NPAGG_H

#include <npagg/ctx.h>
#include <npagg/infer.h>
#include <npagg/prior.h>
#include <npagg/types.h>
#include <npagg/version.h>

#endif /* NPAGG_NPAGG_H */
