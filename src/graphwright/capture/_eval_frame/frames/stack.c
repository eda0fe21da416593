/* Where the C stack of a thread ends. */
#define _GNU_SOURCE
#include <pthread.h>
#include "eval_frame.h"

static _Thread_local char *lowest;
static _Thread_local bool asked;

char *ef_stack_lowest(void) {
#ifdef __linux__
    if (!asked) {
        pthread_attr_t attributes;
        void *address;
        size_t size;
        asked = true;
        if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
            if (pthread_attr_getstack(&attributes, &address, &size) == 0) {
                lowest = address;
            }
            pthread_attr_destroy(&attributes);
        }
    }
#endif
    return lowest;
}
