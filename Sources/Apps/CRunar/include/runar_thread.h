/* The C that only librunar's Swift needs: not installed, not exported. */
#ifndef RUNAR_THREAD_H
#define RUNAR_THREAD_H

#include <stdbool.h>

/* Whether this thread is in a callback of a program. */
bool callback_thread_is_inside(void);
/* Notes it; returns what was noted before. */
bool callback_thread_set_inside(bool is_inside);

#endif
