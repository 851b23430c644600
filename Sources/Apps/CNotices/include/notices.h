#ifndef RUNAR_NOTICES_H
#define RUNAR_NOTICES_H

#include <stddef.h>

/// The licences of everything in the program, in UTF-8 without a zero byte; `*count` is set to its bytes.
const char *runar_notices(size_t *count);

#endif
