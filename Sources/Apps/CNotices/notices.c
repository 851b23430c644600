// The text that scripts/release/bill.py writes, embedded.

#include "notices.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const char notices[] = {
#embed "../../../packaging/notices.txt"
};

const char *runar_notices(size_t *count) {
    *count = sizeof notices;
    return notices;
}
