#include "io/decimal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * printf and strtod take the decimal point from the locale. Both are used without one here: the
 * digits as an integer, the exponent moved by as many places as there would be behind the point.
 */
static void drop_point(const char *scientific, int places, char *text)
{
    const char *e = strchr(scientific, 'e');
    const long exponent = strtol(e + 1, NULL, 10) - places;
    char *to = text;
    for (const char *c = scientific; c < e; c++)
        if (*c == '-' || (*c >= '0' && *c <= '9'))
            *to++ = *c;
    *to = '\0';
    if (exponent != 0)
        snprintf(to, (size_t)(text + NP_DECIMAL_SIZE - to), "e%ld", exponent);
}

void np_decimal_print(double x, char text[NP_DECIMAL_SIZE])
{
    char scientific[64];
    for (int places = 0; places <= 16; places++) {
        snprintf(scientific, sizeof scientific, "%.*e", places, x);
        drop_point(scientific, places, text);
        if (strtod(text, NULL) == x)
            return;
    }
}

static size_t count_digits(const char *text)
{
    return strspn(text, "0123456789");
}

/* [-]digits[.digits][e[+|-]digits] */
int np_decimal_read(const char *text, double *x)
{
    char plain[2 * NP_DECIMAL_SIZE];
    long exponent = 0;
    if (strlen(text) >= NP_DECIMAL_SIZE)
        return 0;
    const size_t sign = *text == '-', whole = count_digits(text + sign);
    const char *rest = text + sign + whole;
    const size_t places = *rest == '.' ? count_digits(rest + 1) : 0;
    if (whole == 0 || (*rest == '.' && places == 0))
        return 0;
    const char *fraction = rest + 1;
    rest += places ? places + 1 : 0;
    if (*rest == 'e' || *rest == 'E') {
        const char *digits = rest + 1 + (rest[1] == '-' || rest[1] == '+');
        if (count_digits(digits) == 0 || count_digits(digits) > 4)
            return 0;
        exponent = strtol(rest + 1, NULL, 10);
        rest = digits + count_digits(digits);
    }
    snprintf(plain, sizeof plain, "%.*s%.*se%ld", (int)(sign + whole), text, (int)places, fraction,
             exponent - (long)places);
    const double value = strtod(plain, NULL);
    if (*rest != '\0' || !isfinite(value))
        return 0;
    *x = value;
    return 1;
}

int np_integer_read(const char *text, int64_t *x)
{
    const int sign = *text == '-' ? -1 : 1;
    const char *digits = text + (sign < 0);
    int64_t value = 0;
    if (*digits == '\0' || digits[count_digits(digits)] != '\0')
        return 0;
    for (; *digits; digits++) {
        if (value > (INT64_MAX - (*digits - '0')) / 10)
            return 0;
        value = 10 * value + (*digits - '0');
    }
    *x = sign * value;
    return 1;
}
