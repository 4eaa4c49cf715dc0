#include <npagg/types.h>
#include <npagg/version.h>

#define TEXT(x) #x
#define DOTTED(a, b, c) TEXT(a) "." TEXT(b) "." TEXT(c)

const char *npagg_version(void)
{
    return DOTTED(NPAGG_VERSION_MAJOR, NPAGG_VERSION_MINOR, NPAGG_VERSION_PATCH);
}

const char *npagg_status_name(npagg_status status)
{
    static const char *const names[] = {"NPAGG_OK",      "NPAGG_E_ARG",     "NPAGG_E_NOMEM",
                                        "NPAGG_E_STATE", "NPAGG_E_NUMERIC", "NPAGG_E_UNSUP",
                                        "NPAGG_E_IO",    "NPAGG_E_FORMAT"};
    const int32_t count = (int32_t)(sizeof names / sizeof names[0]);
    return status <= 0 && status > -count ? names[-status] : "unknown status";
}
