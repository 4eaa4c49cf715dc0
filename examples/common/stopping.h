/* SIGINT and SIGTERM as a wish to stop, to be asked for between steps. A second one kills. */
#ifndef STOPPING_H
#define STOPPING_H

void stopping_install(void);

/* The signal that came, or 0. */
int stopping_signal(void);

/* A signal's name, and what a program that it stopped exits with: 130 for SIGINT, 143. */
const char *stopping_name(int signal);
int stopping_status(int signal);

#endif /* STOPPING_H */
