/* The headers must compile by themselves, in C11, and begin their versioned structs with their size. */
#include "runar_circle.h"
#include "runar_sealed.h"

_Static_assert(offsetof(runar_node_config, size) == 0, "");
_Static_assert(offsetof(runar_request_options, size) == 0, "");
_Static_assert(offsetof(runar_seal_options, size) == 0, "");
_Static_assert(offsetof(runar_event, size) == 0, "");
_Static_assert(offsetof(runar_circle_event, size) == 0, "");
_Static_assert(offsetof(runar_request_info, size) == 0, "");

#include "runar_thread.h"

static _Thread_local bool inside;

bool callback_thread_is_inside(void) { return inside; }

bool callback_thread_set_inside(bool is_inside) {
    bool before = inside;
    inside = is_inside;
    return before;
}
