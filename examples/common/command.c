#include "command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "complain.h"
#include "stopping.h"
#include "trainer.h"

void command_offer(command *c)
{
    options_heading(c->set, "Other:\n  --help                    this text");
    options_flag(c->set, "version", &c->version, KEEP_NOT, "print the library's version");
}

/* A run that goes on needs the data it began with. */
static int restore_run(npagg_ctx *ctx, const command *c)
{
    const int64_t checksum = *c->checksum;
    if (state_load_options(ctx, c->set, KEEP_RUN, c->s->checkpoint))
        return complain("%s", c->set->error);
    if (*c->checksum != checksum)
        return complain("%s was trained on other data than %s", c->s->checkpoint, c->data(c->user));
    return 0;
}

/* Options against the checkpoint that is there. */
static int check_run(npagg_ctx *ctx, const command *c)
{
    const settings *s = c->s;
    const int exists = s->checkpoint && access(s->checkpoint, F_OK) == 0;
    if (c->set->n_files)
        return complain("%s: want options only; %s", c->set->files[0], c->with_files);
    if (exists && !s->resume && !s->overwrite)
        return complain("--checkpoint %s exists: --resume continues it, --overwrite begins anew",
                        s->checkpoint);
    if (exists && s->resume && restore_run(ctx, c))
        return -1;
    return c->finish(c->user) ? complain("%s", c->set->error) : 0;
}

static int run(npagg_ctx *ctx, const command *c)
{
    const examiner e = {ctx, c->set, c->s, c->views, c->user};
    task_source train, watch;
    if (c->version)
        return printf("%s %s\n", c->name, npagg_version()) < 0;
    if (c->load(c->user))
        return EXIT_USAGE;
    const int drawn = c->draw(&e, c->user);
    if (drawn >= 0)
        return drawn;
    if (c->s->eval)
        return examine_models(&e);
    if (check_run(ctx, c) || c->sources(c->user, &train, &watch))
        return EXIT_USAGE;
    if (c->announce)
        c->announce(ctx, c->user);
    return trainer_run(ctx, c->set, c->s, &train, &watch);
}

static int run_with_context(const command *c)
{
    npagg_ctx *ctx = NULL;
    int status = EXIT_FAILED;
    stopping_install();
    if (npagg_ctx_create(&ctx) || npagg_ctx_set_threads(ctx, (int32_t)c->s->threads))
        complain("no context: %s", ctx ? npagg_ctx_error(ctx) : "out of memory");
    else
        status = run(ctx, c);
    npagg_ctx_destroy(ctx);
    c->close(c->user);
    return status;
}

int command_run(command *c, int argc, char **argv)
{
    complain_as(c->name);
    const int asked = options_parse(c->set, argc, argv);
    if (asked < 0)
        complain("%s", c->set->error);
    if (asked > 0)
        options_help(c->set);
    int status = asked < 0 ? EXIT_USAGE : asked ? EXIT_DONE : run_with_context(c);
    if ((fflush(stdout) || ferror(stdout)) && !status) {
        complain("the output cannot be written: %s", strerror(errno));
        status = EXIT_FAILED;
    }
    free(c->set->files);
    return status;
}
