#include "stopping.h"

#include <signal.h>
#include <string.h>

static volatile sig_atomic_t caught;

static void catch_signal(int signal)
{
    caught = signal;
}

void stopping_install(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = catch_signal;
    action.sa_flags = SA_RESTART | (int)SA_RESETHAND;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error of write, with a message */
}

int stopping_signal(void)
{
    return caught;
}

const char *stopping_name(int signal)
{
    return signal == SIGINT ? "SIGINT" : "SIGTERM";
}

int stopping_status(int signal)
{
    return 128 + signal;
}
